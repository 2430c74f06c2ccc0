package text

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// What users say in parts is a list for a template that goes through it, and what others say is
// one only where the template goes through that, too: answers of tools are texts.
func TestPartsOfWhoSaysThem(t *testing.T) {
	const loops = "{% for p in m.content %}({{ p.text }}){% endfor %}"
	users := newChatTemplate("{% for m in messages %}{% if m.role == 'user' and m.content is not string %}"+loops+"{% else %}{{ m.content }}{% endif %};{% endfor %}", "", "")
	all := newChatTemplate("{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}"+loops+"{% endif %};{% endfor %}", "", "")
	only := newChatTemplate("{% for m in messages %}{% if m.role == 'tool' %}{{ m.content }}{% else %}"+loops+"{% endif %};{% endfor %}", "", "")
	said := []string{"one", "two"}
	for role, want := range map[string][3]string{
		"user": {"(one)(two);", "(one)(two);", "(one)(two);"}, "system": {"one\ntwo;", "(one)(two);", "(one)(two);"}, "assistant": {"one\ntwo;", "(one)(two);", "(one)(two);"},
		"tool": {"one\ntwo;", "one\ntwo;", "one\ntwo;"},
	} {
		for i, c := range []*chatTemplate{users, all, only} {
			if got, err := c.render(asked(Message{Role: role, Parts: said})); err != nil || got.String() != want[i] {
				t.Errorf("template %d, %s: %q, want %q (%v)", i, role, got.String(), want[i], err)
			}
		}
	}
}

// Real templates that go through the parts of users print those of tools, and some those of
// assistants with calls, as Python does: they get texts.
func TestRealTemplatesPrintNoParts(t *testing.T) {
	for name, calling := range map[string]contentForm{
		"GLM-4.6": partsForm, "GLM-4.7-Flash": partsForm, "moonshotai-Kimi-K2": textForm, "unsloth-mistral-Devstral-Small-2507": textForm,
		"Mistral-Small-3.2-24B-Instruct-2506": textForm, "unsloth-Apriel-1.5": textForm,
	} {
		source, err := os.ReadFile(ofLlamaCpp(t, "templates/"+name+".jinja"))
		if err != nil {
			t.Fatal(err)
		}
		c := newChatTemplate(string(source), "<BOS>", "<EOS>")
		if c.takes.content[byUser] != partsForm || c.takes.content[byCaller] != calling {
			t.Errorf("%s takes %v", name, c.takes.content)
		}
		for by := range sayers {
			parts := inParts(by)
			joined := slices.Clone(parts)
			for i, m := range joined {
				if m.Parts != nil {
					joined[i].Content, joined[i].Parts = strings.Join(m.Parts, "\n"), nil
				}
			}
			got, err := c.render(asked(parts...))
			want, wrong := c.render(asked(joined...))
			if err != nil || wrong != nil || printedKeys(got.String()) > 0 || c.takes.content[by] == textForm && got.String() != want.String() {
				t.Errorf("%s, sayer %d: %v, %v\n%q, and of a text\n%q", name, by, err, wrong, got.String(), want.String())
			}
		}
	}
}
