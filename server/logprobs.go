package server

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/sampling"
)

// lowest stands for the logarithm of 0, which JSON has no number for.
const lowest = -9999

// finite is a log-probability as JSON can tell it.
func finite(v float32) float64 { return math.Max(float64(v), lowest) }

// speller tells tokens by what they stand for, or by their ids.
type speller struct {
	spell func(int32) []byte // nil: by ids
	shown func(int32) []byte // what they are in a text; nil: nothing
}

func (c *call) speller(asIDs bool) speller {
	s := speller{c.model.Spell, c.model.Shown}
	if s.shown == nil {
		s.shown = c.model.Spell
	}
	if asIDs {
		s.spell = nil
	}
	return s
}

// token is a token as text, and its bytes; a part of a character is told by its bytes.
func (s speller) token(id int32) (string, []byte) {
	if s.spell == nil {
		name := fmt.Sprintf("token_id:%d", id)
		return name, []byte(name)
	}
	raw := s.spell(id)
	if utf8.Valid(raw) {
		return string(raw), raw
	}
	var b strings.Builder
	b.WriteString("bytes:")
	for _, c := range raw {
		fmt.Fprintf(&b, `\x%02x`, c)
	}
	return b.String(), raw
}

// completionLogprobs are those of completions: lists of the same length. Offsets are places in
// the text, in characters; a token that the text does not show takes none.
type completionLogprobs struct {
	Tokens  []string             `json:"tokens"`
	Own     []*float64           `json:"token_logprobs"`
	Top     []map[string]float64 `json:"top_logprobs"`
	Offsets []int                `json:"text_offset"`
	offset  int
}

// add tells of a token; nil: of the first one of a prompt, before which nothing is.
func (l *completionLogprobs) add(s speller, id int32, d *sampling.Drawn) {
	token, _ := s.token(id)
	l.Tokens, l.Offsets = append(l.Tokens, token), append(l.Offsets, l.offset)
	if s.shown != nil {
		for _, b := range s.shown(id) {
			if utf8.RuneStart(b) {
				l.offset++
			}
		}
	}
	if d == nil {
		l.Own, l.Top = append(l.Own, nil), append(l.Top, nil)
		return
	}
	own := finite(d.Raw)
	top := make(map[string]float64, len(d.Top)+1)
	for i := len(d.Top) - 1; i >= 0; i-- { // of those that are spelled alike the likeliest stays
		name, _ := s.token(d.Top[i].ID)
		top[name] = finite(d.Top[i].Raw)
	}
	top[token] = own
	l.Own, l.Top = append(l.Own, &own), append(l.Top, top)
}

// take empties the lists, for the next chunk.
func (l *completionLogprobs) take() *completionLogprobs {
	taken := *l
	*l = completionLogprobs{offset: l.offset}
	return &taken
}

// scored gives f the tokens of the prompt of a sequence, from a place on, with what the first
// of its sequences, of all of a call, tells of them: nil of the token before which nothing is.
// It ends early where they were given up before all of the prompt was computed.
func (c *call) scored(sequence, from int, outs []texts.Output, f func(id int32, d *sampling.Drawn)) {
	first := outs[sequence/c.shared.N*c.shared.N].PromptLogprobs
	prompt := c.promptOf(sequence)
	for at := from; at < min(len(prompt), len(first)+1); at++ {
		if at == 0 {
			f(prompt[0], nil)
		} else {
			f(prompt[at], &first[at-1])
		}
	}
}

// chatLogprobs are those of chats.
type chatLogprobs struct {
	Content []tokenLogprob `json:"content"`
}

type tokenLogprob struct {
	likely
	Top []likely `json:"top_logprobs"`
}

// likely is a token with its log-probability.
type likely struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
	Bytes   []int   `json:"bytes"`
}

func (s speller) likely(l sampling.Logprob) likely {
	token, raw := s.token(l.ID)
	out := likely{Token: token, Logprob: finite(l.Raw), Bytes: make([]int, len(raw))}
	for i, b := range raw {
		out.Bytes[i] = int(b)
	}
	return out
}

// chat tells of tokens; nil: nothing was asked for.
func (s speller) chat(drawn []sampling.Drawn, asked bool) *chatLogprobs {
	if !asked {
		return nil
	}
	l := &chatLogprobs{Content: make([]tokenLogprob, len(drawn))}
	for i, d := range drawn {
		l.Content[i].likely = s.likely(d.Logprob)
		for _, t := range d.Top {
			l.Content[i].Top = append(l.Content[i].Top, s.likely(t))
		}
	}
	return l
}
