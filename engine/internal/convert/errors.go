package convert

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/text"
	"github.com/cbactor/cbactor/text/grammar"
)

var (
	// ErrNotRemote means that a request has what cannot be sent: code in Go.
	ErrNotRemote = fmt.Errorf("%w: it cannot be sent to an engine elsewhere", engine.ErrRejected)

	// ErrMalformed means that a message contradicts the protocol.
	ErrMalformed = errors.New("the message breaks the protocol")

	// ErrProtocol means that the other side speaks another version of the protocol.
	ErrProtocol = fmt.Errorf("%w: another version of the protocol", engine.ErrRejected)

	// ErrLimit means that a guest has as much open as it may.
	ErrLimit = fmt.Errorf("%w: too much is open", engine.ErrUnavailable)
)

// codes are those of errors that the engine's package does not know, or has only the class
// of. They go before its own.
var codes = []struct {
	class error
	code  string
}{
	{ErrNotRemote, "not_remote"},
	{ErrProtocol, "protocol"},
	{ErrLimit, "too_much_open"},
	{ErrMalformed, "malformed"},
	{text.ErrNoTokenizer, "no_tokenizer"},
	{text.ErrUnsupported, "tokenizer_not_supported"},
	{text.ErrNoTemplate, "no_chat_template"},
	{text.ErrStops, "bad_stop_strings"},
	{text.ErrTemplate, "chat_template_failed"},
	{text.ErrControlToken, "control_token"},
	{text.ErrPattern, "tokenizer_pattern"},
	{text.ErrTooLong, "messages_too_long"},
	{text.ErrNoTools, "no_tools"},
	{text.ErrTools, "bad_tools"},
	{text.ErrVariables, "bad_variables"},
	{text.ErrContinue, "cannot_continue"},
	{grammar.ErrSpec, "bad_grammar"},
	{grammar.ErrUnsupported, "grammar_not_supported"},
	{grammar.ErrTooLarge, "grammar_too_large"},
	{grammar.ErrNothing, "grammar_without_texts"},
	{grammar.ErrTooAmbiguous, "grammar_too_ambiguous"},
	{grammar.ErrComplete, "grammar_complete"},
}

// maxErrorText bounds the words of an error, in bytes.
const maxErrorText = 2000

// Error is an error by its code and its words; nil for nil.
func Error(err error) *messages.Error {
	if err == nil {
		return nil
	}
	return &messages.Error{Code: code(err), Message: words(err.Error())}
}

func code(err error) string {
	for _, c := range codes {
		if errors.Is(err, c.class) {
			return c.code
		}
	}
	return engine.Code(err)
}

// words are what a string of the protocol can be: UTF-8, and not too long.
func words(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxErrorText {
		return s
	}
	n := maxErrorText
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// ErrorOf is the error of which the other side has told: in its words, and for errors.Is what
// its code stands for. An unset one is nil; a code that is not known stands for nothing.
func ErrorOf(m *messages.Error) error {
	if m == nil {
		return nil
	}
	return &told{words: words(m.GetMessage()), class: byCode(m.GetCode())}
}

func byCode(code string) error {
	for _, c := range codes {
		if c.code == code {
			return c.class
		}
	}
	return engine.ByCode(code)
}

// told is an error of the other side's.
type told struct {
	words string
	class error // nil: none that is known here
}

func (e *told) Error() string { return e.words }

func (e *told) Unwrap() error { return e.class }
