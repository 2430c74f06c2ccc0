package text

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"
)

// Real templates write parts and take enable_thinking as in Transformers: those that go
// through parts get them, all others a text.
func TestRealTemplatesTakePartsAndVariables(t *testing.T) {
	var golden struct {
		Templates map[string]struct {
			Cases map[string]struct{ Out *string }
		}
	}
	f, err := os.Open("jinja/testdata/templates.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err == nil {
		err = json.NewDecoder(z).Decode(&golden)
	}
	if err != nil {
		t.Fatal(err)
	}
	system := Message{Role: "system", Content: "You are a helpful assistant.\nBe brief & <kind>."}
	parts := []Message{system, {Role: "user", Parts: []string{"part one", "part two"}}}
	joined := []Message{system, {Role: "user", Content: "part one\npart two"}}
	thought := []Message{system, {Role: "user", Content: "And 3+3?"},
		{Role: "assistant", Reasoning: "Three plus three\nis six.", Content: "It is 6."}, {Role: "user", Content: "And 4+4?"}}
	lists, switches := 0, 0
	for name, g := range golden.Templates {
		source, err := os.ReadFile(ofLlamaCpp(t, "templates/"+name))
		if err != nil {
			t.Fatal(err)
		}
		c := newChatTemplate(string(source), "<BOS>", "<EOS>")
		c.now = func() time.Time { return time.Date(2026, 1, 31, 12, 34, 56, 0, time.UTC) }
		got, err := c.render(asked(parts...))
		if c.takes.content[byUser] != textForm {
			lists++
			if want := g.Cases["parts"].Out; err != nil || got.String() != *want {
				t.Errorf("%s: %v\n%q, want\n%q", name, err, got, *want)
			}
		} else if want, wrong := c.render(asked(joined...)); (err == nil) != (wrong == nil) || got.String() != want.String() {
			t.Errorf("%s: %v\n%q, want\n%q (%v)", name, err, got, want, wrong)
		}
		on, off := g.Cases["think_on"].Out, g.Cases["think_off"].Out
		if on == nil || off == nil || *on == *off || strings.Contains(string(source), "documents") {
			continue
		}
		switches++
		for value, want := range map[string]string{"true": *on, "false": *off} {
			options := ChatOptions{Variables: map[string]json.RawMessage{"enable_thinking": json.RawMessage(value)}}
			variables, err := options.variables()
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.render(conversation{messages: thought, answer: true, variables: variables})
			if err != nil || got.String() != want {
				t.Errorf("%s, enable_thinking %s: %v\n%q, want\n%q", name, value, err, got, want)
			}
		}
	}
	t.Logf("%d of %d go through parts, %d can be told not to think", lists, len(golden.Templates), switches)
	if lists == 0 || switches == 0 {
		t.Error("there are none of a kind")
	}
}
