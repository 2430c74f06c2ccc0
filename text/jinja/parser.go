package jinja

import "strings"

// maxNesting is how deep brackets, operators and statements of a source nest; a
// parenthesis with an expression counts twice, of which CPython takes 200.
const maxNesting = 400

// parser makes a tree of tokens by the grammar of jinja2's parser.
type parser struct {
	tokens []token
	at     int
	depth  int
	ends   [][]string // what closes the statements that are open
	blocks map[string]bool
	loops  int // that are open around what is read
}

// parse is the tree of a source.
func parse(source string) []stmt {
	p := &parser{tokens: lex(source), blocks: make(map[string]bool)}
	return p.body(nil)
}

func (p *parser) current() token { return p.tokens[p.at] }

// look is the token behind the current one.
func (p *parser) look() token {
	return p.tokens[min(p.at+1, len(p.tokens)-1)]
}

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != kEOF {
		p.at++
	}
	return t
}

func (p *parser) skipOperator(o string) bool {
	if p.current().is(o) {
		p.at++
		return true
	}
	return false
}

func (p *parser) skipName(name string) bool {
	if p.current().named(name) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expectOperator(o string) {
	if !p.skipOperator(o) {
		p.unexpected(o)
	}
}

func (p *parser) expectName() string {
	if p.current().kind != kName {
		p.unexpected("name")
	}
	return p.next().text
}

func (p *parser) expectKind(k kind) {
	if p.current().kind != k {
		p.unexpected(token{kind: k}.String())
	}
	p.next()
}

func (p *parser) unexpected(want string) {
	if p.current().kind == kEOF {
		p.fail("unexpected end of template, expected '%s'.", want)
	}
	p.fail("expected token '%s', got '%v'", want, p.current())
}

func (p *parser) fail(format string, args ...any) {
	throwSyntax(p.current().line, format, args...)
}

// enter counts nesting; the caller leaves again with p.depth--.
func (p *parser) enter() {
	if p.depth++; p.depth > maxNesting {
		p.fail("it nests more than %d deep", maxNesting)
	}
}

// body reads statements and text up to a statement that is one of ends, whose name is
// then the current token, or to the end of the source without ends.
func (p *parser) body(ends []string) []stmt {
	p.enter()
	defer func() { p.depth-- }()
	p.ends = append(p.ends, ends)
	var list []stmt
	var out *outputStmt
	print := func(x expr, line int) {
		if out == nil {
			out = &outputStmt{line: line}
			list = append(list, out)
		}
		out.parts = append(out.parts, x)
	}
	for {
		t := p.current()
		switch t.kind {
		case kData:
			p.next()
			print(&literal{Text{s: t.text, safe: true}}, t.line)
		case kPrintBegin:
			p.next()
			print(p.tuple(tupleRules{condition: true}), t.line)
			p.expectKind(kPrintEnd)
		case kBlockBegin:
			p.next()
			out = nil
			if p.isOneOf(ends) {
				p.ends = p.ends[:len(p.ends)-1]
				return list
			}
			list = append(list, p.statement())
			p.expectKind(kBlockEnd)
		default:
			if ends != nil {
				p.missingEnd()
			}
			return list
		}
	}
}

func (p *parser) isOneOf(names []string) bool {
	for _, n := range names {
		if p.current().named(n) {
			return true
		}
	}
	return false
}

// inside reads the rest of a statement's tag, and its body up to one of ends.
func (p *parser) inside(ends ...string) []stmt {
	p.skipOperator(":")
	p.expectKind(kBlockEnd)
	return p.body(ends)
}

func (p *parser) missingEnd() {
	p.fail("Unexpected end of template. Jinja was looking for the following tags: '%s'.",
		strings.Join(p.ends[len(p.ends)-1], "' or '"))
}

func (p *parser) unknownTag(name string) {
	ends := p.ends[len(p.ends)-1]
	if ends != nil {
		p.fail("Encountered unknown tag '%s'. Jinja was looking for the following tags: '%s'.", name, strings.Join(ends, "' or '"))
	}
	p.fail("Encountered unknown tag '%s'.", name)
}
