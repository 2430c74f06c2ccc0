package text

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/cbactor/cbactor/text/jinja"
)

// continueMark is put behind the message that is to be continued, to see where it ends in
// what the template writes: Transformers does it so for continue_final_message. The space
// at its end is lost where a template trims what it is given.
const continueMark = "CONTINUES_HERE "

// upToMark is a rendering up to where its last message ends, which has the mark there.
// The mark is the template's own text, so that one that somebody wrote is none.
func upToMark(text jinja.Text, last Message) (jinja.Text, error) {
	s, mark := text.String(), strings.TrimSpace(continueMark)
	at := strings.LastIndex(s, mark)
	for at >= 0 && touches(text.Foreign(), at, at+len(mark)) {
		at = strings.LastIndex(s[:at], mark)
	}
	said := last.Content
	if n := len(last.Parts); n > 0 {
		said = last.Parts[n-1]
	}
	if at < 0 || !strings.Contains(s[:at], strings.TrimSpace(said)) {
		return jinja.Text{}, fmt.Errorf("%w: the chat template does not write it as it is", ErrContinue)
	}
	if !strings.HasPrefix(s[at:], continueMark) {
		at = len(strings.TrimRightFunc(s[:at], unicode.IsSpace))
	}
	return text.Prefix(at), nil
}
