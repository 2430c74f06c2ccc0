package server

import (
	"strings"
	"unicode/utf8"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
)

// shown is the text of a sequence so far; out is nil before its end.
func (a *sglanging) shown(sequence int, out *texts.Output) string {
	ask, story := a.ask(sequence), a.told[sequence]
	if !ask.special {
		return story.text.String()
	}
	ids := story.ids
	if out != nil && byID(out) && !ask.request.KeepStop {
		ids = ids[:len(ids)-1]
	}
	var b strings.Builder
	for _, id := range ids {
		b.Write(a.model.Spell(id))
	}
	if out == nil {
		return valid(wholeRunes(b.String()))
	}
	return valid(cut(b.String(), out.Stopped, ask.request.KeepStop))
}

// byID says that the last token of a sequence ended it.
func byID(out *texts.Output) bool {
	return out.FinishReason == engine.FinishStop && !out.Matched && len(out.TokenIDs) > 0
}

// cut cuts a text at the stop string that it ends with, or behind it; "": there is none.
func cut(text, stop string, keep bool) string {
	at := strings.LastIndex(text, stop)
	switch {
	case stop == "" || at < 0:
		return text
	case keep:
		at += len(stop)
	}
	return text[:at]
}

// wholeRunes is a text without the part of a character that it ends with.
func wholeRunes(text string) string {
	for n := 1; n <= min(utf8.UTFMax, len(text)); n++ {
		if end := text[len(text)-n:]; utf8.RuneStart(end[0]) {
			if !utf8.FullRuneInString(end) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}

// valid is a text with U+FFFD for what is no UTF-8.
func valid(text string) string { return string([]rune(text)) }
