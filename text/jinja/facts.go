package jinja

// facts are what a template tells of itself.
type facts struct {
	words    map[string]bool // names, attributes, and strings in expressions
	literals []string
}

func (f *facts) gather(t *Template) {
	f.words = make(map[string]bool)
	walk(t.body, func(n any) {
		switch n := n.(type) {
		case *nameExpr:
			f.words[n.name] = true
		case *attrExpr:
			f.words[n.name] = true
		case *blockStmt:
			t.blocks[n.name] = n
		case *literal:
			if text, ok := n.value.(Text); ok {
				f.literals = append(f.literals, text.s)
				if !text.safe { // not the text between tags
					f.words[text.s] = true
				}
			}
		}
	})
}

// Uses says whether the template uses a word: as the name of a variable, as an
// attribute, or as a string in an expression.
func (t *Template) Uses(word string) bool { return t.facts.words[word] }

// Literals are the texts that the template itself has: those between its tags, and the
// strings in its expressions. They are read only.
func (t *Template) Literals() []string { return t.facts.literals }
