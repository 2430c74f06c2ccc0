package tools

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var answers = []struct {
	name   string
	style  Style
	answer string
	text   string
	calls  []Call
}{
	{"words", Hermes, "Hello, <b>you</b> é中😀 \n", "Hello, <b>you</b> é中😀 \n", nil},
	{"a call", Hermes, "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": [1, \"}\\\"\"]}}\n</tool_call>", "", []Call{{"f", `{"a": [1, "}\""]}`}}},
	{"words before and behind", Hermes, "I look. \n<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>\nSo.", "I look.\nSo.", []Call{{"f", "{}"}}},
	{"two calls", Hermes, "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>\n<tool_call>\n{\"arguments\": {\"x\": \"é\"}, \"name\": \"g\"}</tool_call> \n", "",
		[]Call{{"f", "{}"}, {"g", `{"x": "é"}`}}},
	{"parameters", Hermes, `<tool_call>{"type":"function","name":"f","parameters":{"a":{}}}</tool_call>`, "", []Call{{"f", `{"a":{}}`}}},
	{"no arguments", Hermes, `<tool_call>{"name":"f"}</tool_call>`, "", []Call{{"f", "{}"}}},
	{"escaped name", Hermes, `<tool_call>{"na\u006de":"f\u0067"}</tool_call>`, "", []Call{{"fg", "{}"}}},
	{"arguments as a string", Hermes, `<tool_call>{"name":"f","arguments":"{\"a\": 1}"}</tool_call>`, "", []Call{{"f", `{"a": 1}`}}},
	{"arguments that are null", Hermes, `<tool_call>{"name":"f","arguments":null }</tool_call>`, "", []Call{{"f", `null`}}},
	{"more members", Hermes, `<tool_call>{"id":1,"x":[{"name":"z"}],"name":"f","y":-1.5,"arguments":{},"z":true}</tool_call>`, "", []Call{{"f", "{}"}}},
	{"no end tag", Hermes, `<tool_call>{"name":"f","arguments":{}}`, "", []Call{{"f", "{}"}}},
	{"the next instead of an end tag", Hermes, `<tool_call>{"name":"f","arguments":{}} <tool_call>{"name":"g","arguments":{}}</tool_call>`, "", []Call{{"f", "{}"}, {"g", "{}"}}},
	{"cut off", Hermes, `<tool_call>{"name":"f","arguments":{"a":"b`, "", []Call{{"f", `{"a":"b`}}},
	{"cut off before its name", Hermes, `Hm <tool_call>{"name":"f`, `Hm <tool_call>{"name":"f`, nil},
	{"tag alone", Hermes, "a <tool_call>", "a <tool_call>", nil},
	{"half a tag", Hermes, "a < b <tool <<tool_call", "a < b <tool <<tool_call", nil},
	{"tag after half a tag", Hermes, `<tool<<tool_call>{"name":"f"}</tool_call>`, "<tool<", []Call{{"f", "{}"}}},
	{"no object", Hermes, "<tool_call>f(1)</tool_call>", "<tool_call>f(1)</tool_call>", nil},
	{"no name", Hermes, `<tool_call>{"arguments":{"a":1}}</tool_call>`, `<tool_call>{"arguments":{"a":1}}</tool_call>`, nil},
	{"name that is no string", Hermes, `<tool_call>{"name":1,"arguments":{}}`, `<tool_call>{"name":1,"arguments":{}}`, nil},
	{"names twice", Hermes, `<tool_call>{"name":"f","name":"g"}`, `<tool_call>{"name":"f","name":"g"}`, nil},
	{"empty name", Hermes, `<tool_call>{"name":"","arguments":{}}`, `<tool_call>{"name":"","arguments":{}}`, nil},
	{"broken behind its name", Hermes, `<tool_call>{"name":"f","arguments":{} oh`, "oh", []Call{{"f", "{}"}}},
	{"not asked for", None, `<tool_call>{"name":"f"}</tool_call>`, `<tool_call>{"name":"f"}</tool_call>`, nil},

	{"words", Llama3, " Hello {\"name\": \"f\", \"parameters\": {}}", " Hello {\"name\": \"f\", \"parameters\": {}}", nil},
	{"a call", Llama3, `{"name": "f", "parameters": {"a": 1}}`, "", []Call{{"f", `{"a": 1}`}}},
	{"a call with a tag", Llama3, "\n<|python_tag|> {\"type\": \"function\", \"name\": \"f\", \"parameters\": {}}\n", "", []Call{{"f", "{}"}}},
	{"two calls", Llama3, `{"name": "f", "parameters": {}}; {"name": "g", "arguments": {"b":"c"}}`, "", []Call{{"f", "{}"}, {"g", `{"b":"c"}`}}},
	{"two calls with tags", Llama3, `<|python_tag|>{"name": "f", "parameters": {}};<|python_tag|>{"name": "g", "parameters": {}}; `, "", []Call{{"f", "{}"}, {"g", "{}"}}},
	{"JSON that is none", Llama3, `{"answer": {"name": "f"}, "n": 1} so`, `{"answer": {"name": "f"}, "n": 1} so`, nil},
	{"JSON with a name", Llama3, `{"name": "Ada", "age": 36}`, `{"name": "Ada", "age": 36}`, nil},
	{"a call of another kind", Llama3, `<|python_tag|>search.call(query="x")`, `<|python_tag|>search.call(query="x")`, nil},
	{"half a tag", Llama3, "<|python", "<|python", nil},
	{"another tag", Llama3, "<|eot|>a", "<|eot|>a", nil},
	{"words behind", Llama3, `{"name": "f", "parameters": {}} It is so; {`, " It is so; {", []Call{{"f", "{}"}}},
	{"words behind a semicolon", Llama3, `{"name": "f", "parameters": {}}; so`, "; so", []Call{{"f", "{}"}}},
}

// whole puts deltas together and checks their order.
func whole(t *rapid.T, deltas []Delta) (text string, calls []Call) {
	for _, d := range deltas {
		switch {
		case d.Text != "":
			if d.Name != "" || d.Arguments != "" {
				t.Fatalf("words and a call in one: %+v", d)
			}
			text += d.Text
		case d.Name != "":
			if d.Call != len(calls) {
				t.Fatalf("call %d comes as number %d", len(calls), d.Call)
			}
			calls = append(calls, Call{d.Name, d.Arguments})
		default:
			if d.Call != len(calls)-1 || d.Arguments == "" {
				t.Fatalf("%+v follows call %d", d, len(calls)-1)
			}
			calls[d.Call].Arguments += d.Arguments
		}
	}
	return text, calls
}

// What is found does not depend on the pieces in which a text comes.
func TestAnswersInAnyPieces(t *testing.T) {
	for _, a := range answers {
		t.Run(a.name, func(t *testing.T) {
			if text, calls := Parse(a.style, a.answer); text != a.text || !slices.Equal(calls, a.calls) {
				t.Errorf("%q and %q, want %q and %q", text, calls, a.text, a.calls)
			}
			rapid.Check(t, func(t *rapid.T) {
				p := NewParser(a.style)
				var deltas []Delta
				for rest := a.answer; rest != ""; {
					n := min(len(rest), rapid.IntRange(1, 7).Draw(t, "piece"))
					deltas = append(deltas, p.Push(rest[:n])...)
					rest = rest[n:]
				}
				text, calls := whole(t, append(deltas, p.Finish()...))
				if text != a.text || !slices.Equal(calls, a.calls) {
					t.Fatalf("%q and %q, want %q and %q", text, calls, a.text, a.calls)
				}
				if p.Calls() != len(calls) {
					t.Fatalf("%d calls are counted", p.Calls())
				}
			})
		})
	}
}

// What is certain is told at once: words, a name when its arguments begin, arguments byte
// by byte.
func TestDeltasComeEarly(t *testing.T) {
	p := NewParser(Hermes)
	for _, step := range []struct {
		push string
		want []Delta
	}{
		{"Hi", []Delta{{Text: "Hi"}}},
		{" <tool", nil},
		{`_call>{"name": "f", "arg`, nil},
		{`uments": `, nil},
		{`{`, []Delta{{Name: "f", Arguments: "{"}}},
		{`"a": `, []Delta{{Arguments: `"a": `}}},
		{`1}`, []Delta{{Arguments: `1}`}}},
		{`}</tool_call>`, nil},
		{"\n", nil},
		{"x", []Delta{{Text: "\nx"}}},
		{`<tool_call>{"name": "g", "arguments": {}}</tool_call>y`, []Delta{{Call: 1, Name: "g", Arguments: "{}"}, {Text: "y"}}},
	} {
		if got := p.Push(step.push); !slices.Equal(got, step.want) {
			t.Errorf("%q gives %+v, want %+v", step.push, got, step.want)
		}
	}
}

// Whatever a model writes, nothing panics and no words are lost before the first call.
func FuzzParser(f *testing.F) {
	for _, a := range answers {
		f.Add(a.answer, a.style == Llama3)
	}
	f.Fuzz(func(t *testing.T, answer string, llama bool) {
		style := Hermes
		if llama {
			style = Llama3
		}
		text, calls := Parse(style, answer)
		if len(calls) == 0 && text != answer {
			t.Errorf("%q became %q", answer, text)
		}
		for _, c := range calls {
			if c.Name == "" {
				t.Errorf("a call without a name in %q", answer)
			}
		}
	})
}

// Four times the text takes less than nine times as long; where it is quadratic it is
// sixteen times, always. On a busy machine it may be more now and then, so several tries
// are given.
func TestParsingTakesLinearTime(t *testing.T) {
	for name, answer := range map[string]func(n int) string{
		"tags":      func(n int) string { return strings.Repeat("<tool_call>", n/11) },
		"half tags": func(n int) string { return strings.Repeat("<tool_cal", n/9) },
		"spaces":    func(n int) string { return strings.Repeat(" ", n) },
		"arguments": func(n int) string { return `<tool_call>{"name":"f","arguments":{"a":"` + strings.Repeat("b", n) },
		"members": func(n int) string {
			return `<tool_call>{"arguments":{"a":"` + strings.Repeat("b", n) + `"},"name":"f"}`
		},
		"calls":   func(n int) string { return strings.Repeat(`<tool_call>{"name":"f"}</tool_call>`, n/35) },
		"broken":  func(n int) string { return strings.Repeat(`<tool_call>{"name":"f","arguments":{} `, n/38) },
		"objects": func(n int) string { return strings.Repeat(`<tool_call>{"a":1,`, n/18) },
		"words":   func(n int) string { return strings.Repeat("a b ", n/4) },
	} {
		const size, tries = 32 << 10, 8
		var once, four time.Duration
		for try := 0; try == 0 || try < tries && four >= 9*once; try++ {
			once, four = timeOf(answer(size)), timeOf(answer(4*size))
		}
		if four >= 9*once {
			t.Errorf("%s: %v, four times as much %v", name, once, four)
		}
	}
}

// timeOf is how long an answer takes in small pieces, and as a whole.
func timeOf(answer string) time.Duration {
	began := time.Now()
	p := NewParser(Hermes)
	for i := 0; i < len(answer); i += 5 {
		p.Push(answer[i:min(i+5, len(answer))])
	}
	p.Finish()
	Parse(Hermes, answer)
	return time.Since(began)
}

func TestStyleOfATemplate(t *testing.T) {
	for template, want := range map[string]Style{
		"{{ messages }}":                                        None,
		"{% for t in tools %}<tool_call>\n":                     Hermes,
		"{% if tools %}<|python_tag|>":                          Llama3,
		`{% if tools %}ipython {"name": f, "parameters": dict}`: Llama3,
		"{% if tools %}[TOOL_CALLS]":                            None,
		"<tool_call>":                                           None,
	} {
		if got := Of(template); got != want {
			t.Errorf("%q: %d, want %d", template, got, want)
		}
	}
}
