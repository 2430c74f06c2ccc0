package text

import (
	"testing"
	"time"
)

// What a template takes is found out by trying.
func TestTemplateIsProbed(t *testing.T) {
	for source, want := range map[string]capabilities{
		"{{ messages[0].content + 'x' }}":                                                                                                                     {},
		"{% for t in tools %}{{ t.function.name }}{% endfor %}{{ messages[0].content }}":                                                                      {tools: true, emptyTools: true},
		"{% if tools %}{{ tools|tojson }}{% endif %}{{ messages[0].content ~ 'x' }}":                                                                          {tools: true},
		"{% for m in messages %}{% for c in m.tool_calls or [] %}{{ c.function.arguments + '' }}{% endfor %}{% endfor %}":                                     {calls: true, textCalls: true},
		"{% for m in messages %}{% for c in m.tool_calls or [] %}{{ c.function.arguments }}{% endfor %}{% endfor %}":                                          {calls: true, textCalls: true},
		"{% for m in messages %}{% for c in m.tool_calls or [] %}{{ c.function.arguments|tojson }}{% endfor %}{% endfor %}":                                   {calls: true},
		"{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{{ p.text }}{% endfor %}{% endif %}{% endfor %}": {content: [sayers]contentForm{partsForm, partsForm, partsForm, textForm, partsForm}},
		"{% for m in messages %}{% for p in m['content'] %}{{ p['text'] }}{% endfor %}{% endfor %}":                                                           {content: [sayers]contentForm{listForm, listForm, listForm, listForm, listForm}},
	} {
		if got := newChatTemplate(source, "", "").takes; got != want {
			t.Errorf("%s: %+v, want %+v", source, got, want)
		}
	}
}

// Reasoning has the names that Transformers gives it, and dates come from the clock.
func TestReasoningAndDates(t *testing.T) {
	c := newChatTemplate("{{ strftime_now('%d %b %Y') }} {{ messages[0].reasoning_content }} {{ messages[0].thinking }} {{ messages[0].keys()|join(',') }}", "", "")
	c.now = func() time.Time { return time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC) }
	got, err := c.render(asked(Message{Role: "assistant", Content: "a", Reasoning: "b"}))
	if want := "31 Jan 2026 b b thinking,role,content,reasoning_content"; err != nil || got.String() != want {
		t.Errorf("%q, want %q (%v)", got.String(), want, err)
	}
	open, err := newChatTemplate("{{ add_generation_prompt }}", "", "").render(conversation{messages: []Message{{}}})
	if err != nil || open.String() != "False" {
		t.Errorf("%q, %v", open.String(), err)
	}
}
