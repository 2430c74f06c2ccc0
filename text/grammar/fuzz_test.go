package grammar

import (
	"context"
	"testing"
)

// Whatever is asked for, the answer is a grammar or an error, and a grammar has a text.
func FuzzCompile(f *testing.F) {
	for _, c := range schemaCases {
		f.Add(c.source, true)
	}
	for _, e := range expressions {
		f.Add(e, false)
	}
	f.Add(person, true)
	v := letters(`{"`, `":`, "ab", "é")
	f.Fuzz(func(t *testing.T, source string, isSchema bool) {
		spec := Spec{Regex: source}
		if isSchema {
			spec = schema(source)
		}
		g, err := Compile(context.Background(), spec, v)
		if err != nil {
			return
		}
		mask, err := g.machine.maskOf(g.start)
		if err != nil {
			t.Fatal(err)
		}
		if len(ids(mask, v.size)) == 0 && !g.start.ends {
			t.Error("nothing can be read, and the text may not end")
		}
	})
}
