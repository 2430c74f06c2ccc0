package tools

import "strings"

// Delta is something that became certain: words, or a part of a call.
type Delta struct {
	Text string // words; the other fields are empty then

	Call      int    // number of the call, from 0
	Name      string // of the function; in the first delta of a call alone
	Arguments string // what is appended to the arguments, which are JSON in the end
}

// Parser finds calls in a text that comes in pieces.
type Parser struct {
	style  Style
	phase  phase
	held   []byte // what may belong to a call, and is words if it does not
	tag    string // that held ends with the beginning of
	match  int    // bytes of tag
	object object
	told   bool // the name of the call
	calls  int  // that were told
	words  []byte
	out    []Delta // words come behind them
}

// phase is where in an answer a parser stands.
type phase uint8

const (
	words   phase = iota // outside of calls
	before               // Llama 3: before a call, or before words
	call                 // in the object of one
	after                // behind the object
	forever              // nothing but words follows
)

// NewParser makes the parser of an answer.
func NewParser(s Style) *Parser {
	p := &Parser{style: s, tag: opening}
	switch s {
	case None:
		p.phase = forever
	case Llama3:
		p.phase, p.tag = before, pythonTag
	}
	return p
}

// Push takes the next piece of text and gives what is certain with it, in order.
func (p *Parser) Push(text string) []Delta {
	p.out = nil
	for i := 0; i < len(text); i++ {
		if p.phase == forever {
			p.words = append(p.words, text[i:]...)
			break
		}
		p.next(text[i])
	}
	p.argue()
	p.flush()
	return p.out
}

// Finish ends the text, for whatever reason, and gives what was held back.
func (p *Parser) Finish() []Delta {
	p.out = nil
	if !p.settled() {
		p.release()
	}
	p.phase = forever
	p.flush()
	return p.out
}

// settled says whether what is held is no words: the end of a call, or white space behind
// one.
func (p *Parser) settled() bool {
	if p.phase == call {
		return p.told
	}
	return p.phase == after || p.calls > 0 && strings.Trim(string(p.held), " \t\r\n;") == ""
}

// Calls is how many calls were told of.
func (p *Parser) Calls() int { return p.calls }

func space(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

func (p *Parser) next(b byte) {
	switch p.phase {
	case words:
		p.nextWord(b)
	case before:
		p.nextBefore(b)
	case call:
		p.nextInCall(b)
	case after:
		p.nextAfter(b)
	default:
		p.words = append(p.words, b)
	}
}

// matches says whether b goes on with the tag.
func (p *Parser) matches(b byte) bool {
	if p.tag[p.match] != b {
		return false
	}
	p.match++
	p.held = append(p.held, b)
	return true
}

// nextWord reads words, in which a tag may open a call.
func (p *Parser) nextWord(b byte) {
	if p.match > 0 && !p.matches(b) {
		p.release()
	} else if p.match > 0 {
		if p.match == len(p.tag) {
			p.begin()
		}
		return
	}
	switch {
	case p.matches(b):
	case space(b):
		p.held = append(p.held, b)
	default:
		p.release()
		p.words = append(p.words, b)
	}
}

// nextBefore reads what may stand before a call of Llama's.
func (p *Parser) nextBefore(b byte) {
	switch {
	case p.match < len(p.tag) && p.matches(b):
	case p.match > 0 && p.match < len(p.tag):
		p.surrender(b)
	case space(b):
		p.held = append(p.held, b)
	case b == '{':
		p.begin()
		p.nextInCall(b)
	default:
		p.surrender(b)
	}
}

// begin begins a call. What is held stays so until its name is told.
func (p *Parser) begin() {
	p.phase, p.match, p.told, p.object = call, 0, false, object{}
}

func (p *Parser) nextInCall(b byte) {
	if !p.told {
		p.held = append(p.held, b)
	}
	switch p.object.next(b) {
	case done:
		p.tell(true)
		if !p.told {
			p.surrender()
			return
		}
		p.phase, p.tag = after, closing
	case broken:
		if !p.told {
			p.surrender()
			return
		}
		p.argue()
		p.surrender(b)
	default:
		p.tell(false)
	}
}

// tell tells the name of a call when it is certain that it is one: with its arguments, or
// at its end, where Hermes leaves them out.
func (p *Parser) tell(ended bool) {
	if o := &p.object; p.told || !o.named || !o.argued && !(ended && p.style == Hermes) {
		return
	}
	if !p.object.argued {
		p.object.arguments = []byte("{}")
	}
	p.flush()
	p.out = append(p.out, Delta{Call: p.calls, Name: p.object.name})
	p.told, p.held = true, nil
	p.calls++
}

// argue gives the arguments that were read.
func (p *Parser) argue() {
	if !p.told || len(p.object.arguments) == 0 {
		return
	}
	text, number := string(p.object.arguments), p.calls-1
	p.object.arguments = p.object.arguments[:0]
	if n := len(p.out); n > 0 && p.out[n-1].Text == "" && p.out[n-1].Call == number {
		p.out[n-1].Arguments += text
		return
	}
	p.flush()
	p.out = append(p.out, Delta{Call: number, Arguments: text})
}

// nextAfter reads what ends a call: a tag of Hermes's, a semicolon of Llama's.
func (p *Parser) nextAfter(b byte) {
	p.argue()
	switch {
	case p.style == Llama3 && b == ';':
		p.phase, p.tag, p.held = before, pythonTag, append(p.held, b)
	case p.match == 0 && space(b):
		p.held = append(p.held, b)
	case p.style == Hermes && p.matches(b):
		if p.match == len(p.tag) {
			p.phase, p.tag, p.match, p.held = words, opening, 0, nil
		}
	default:
		p.again(b)
	}
}

// again reads what is held once more, and b, as what follows a call that was not ended.
func (p *Parser) again(b byte) {
	rest := append(p.held, b)
	p.held, p.match = nil, 0
	p.surrender(rest...)
}

// surrender makes words of what is held, and reads bytes that follow. Llama's answers have
// no calls behind them.
func (p *Parser) surrender(rest ...byte) {
	p.release()
	p.phase, p.tag = words, opening
	if p.style == Llama3 {
		p.phase = forever
	}
	for _, b := range rest {
		p.next(b)
	}
}

// release makes words of what is held.
func (p *Parser) release() {
	p.words = append(p.words, p.held...)
	p.held, p.match = nil, 0
}

// flush gives the words.
func (p *Parser) flush() {
	if len(p.words) > 0 {
		p.out = append(p.out, Delta{Text: string(p.words)})
		p.words = p.words[:0]
	}
}
