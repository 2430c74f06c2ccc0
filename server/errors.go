package server

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/text"
	"github.com/cbactor/cbactor/text/grammar"
)

// refusal is an error as a client is told of it.
type refusal struct {
	status  int
	message string
	param   string // that it is about; "": none
	code    string // "": none
}

// Error implements error.
func (r *refusal) Error() string { return r.message }

// bad refuses the value of a parameter.
func bad(param, format string, args ...any) error {
	return &refusal{http.StatusBadRequest, param + " " + fmt.Sprintf(format, args...), param, "invalid_value"}
}

// Refusals that say the same each time.
var (
	errBusy      = &refusal{http.StatusTooManyRequests, "too many calls generate at the moment: try again", "", "too_many_calls"}
	errBodies    = &refusal{http.StatusTooManyRequests, "the bodies of open requests take all the space there is for them: try again", "", "too_many_bytes"}
	errWatchers  = &refusal{http.StatusTooManyRequests, fmt.Sprintf("%d calls wait for other weights, and no more may: try again", maxWatchers), "", "too_many_calls"}
	errHangs     = &refusal{http.StatusServiceUnavailable, fmt.Sprintf("requests are open, and no step of the engine has ended for %v: look into its log", probeTime), "", "engine_hangs"}
	errShutdown  = &refusal{http.StatusServiceUnavailable, "the server is being shut down: try another one", "", "server_shutdown"}
	errSlow      = &refusal{http.StatusRequestTimeout, "the client does not take what is written", "", "slow_reader"}
	errDuplicate = &refusal{http.StatusConflict, "a request with this X-Request-Id is open: give each its own", "", "duplicate_request_id"}
)

// classes are what the errors of texts and files are to a client, and which parameter they are
// about.
var classes = []struct {
	class  error
	status int
	param  string
	code   string
}{
	{text.ErrStops, http.StatusBadRequest, "stop", "invalid_value"},
	{text.ErrNoTokenizer, http.StatusBadRequest, promptParam, "no_tokenizer"},
	{text.ErrUnsupported, http.StatusBadRequest, promptParam, "no_tokenizer"},
	{text.ErrNoTemplate, http.StatusBadRequest, promptParam, "no_chat_template"},
	{text.ErrTemplate, http.StatusBadRequest, promptParam, "chat_template"},
	{text.ErrControlToken, http.StatusBadRequest, promptParam, "control_token"},
	{text.ErrPattern, http.StatusBadRequest, promptParam, "tokenizer_pattern"},
	{text.ErrTooLong, http.StatusBadRequest, promptParam, "context_length_exceeded"},
	{text.ErrNoTools, http.StatusBadRequest, "tools", "no_tools"},
	{text.ErrTools, http.StatusBadRequest, "tools", "invalid_value"},
	{text.ErrVariables, http.StatusBadRequest, "chat_template_kwargs", "invalid_value"},
	{text.ErrContinue, http.StatusBadRequest, "continue_final_message", "invalid_value"},
	{grammar.ErrSpec, http.StatusBadRequest, formatParam, "bad_grammar"},
	{grammar.ErrUnsupported, http.StatusBadRequest, formatParam, "grammar_not_supported"},
	{grammar.ErrTooLarge, http.StatusBadRequest, formatParam, "grammar_too_large"},
	{grammar.ErrNothing, http.StatusBadRequest, formatParam, "grammar_without_texts"},
	{grammar.ErrTooAmbiguous, http.StatusBadRequest, formatParam, "grammar_too_ambiguous"},
	{grammar.ErrComplete, http.StatusBadRequest, formatParam, "grammar_complete"},
	{engine.ErrEmptyPrompt, http.StatusBadRequest, promptParam, "empty_prompt"},
	{engine.ErrTooLong, http.StatusBadRequest, promptParam, "context_length_exceeded"},
	{engine.ErrNeverFits, http.StatusBadRequest, promptParam, "cache_too_small"},
	{engine.ErrVocab, http.StatusBadRequest, promptParam, "invalid_token_id"},
	{engine.ErrAdapter, http.StatusBadRequest, "", engine.Code(engine.ErrAdapter)}, // whatever is wrong with its files
	{checkpoint.ErrFormat, http.StatusBadRequest, "", "bad_safetensors"},
	{checkpoint.ErrNotFound, http.StatusNotFound, "", "file_not_found"},
}

// Stand for the parameters of a call that have its prompts and its format.
const (
	promptParam = "prompt"
	formatParam = "format"
)

// refusalOf is any error as a client is told of it, by a route whose prompt is in a parameter.
func refusalOf(err error, prompt string) *refusal { return refusalAbout(err, prompt, "") }

// refusalAbout is refusalOf where a parameter asks for a format, too.
func refusalAbout(err error, prompt, format string) *refusal {
	var r *refusal
	switch {
	case errors.As(err, &r):
		return r
	case errors.Is(err, engine.ErrDuplicateID):
		return errDuplicate
	}
	if r := sampled(err); r != nil {
		return r
	}
	for _, c := range classes {
		if errors.Is(err, c.class) {
			param := c.param
			switch param {
			case promptParam:
				param = prompt
			case formatParam:
				param = format
			}
			return &refusal{c.status, err.Error(), param, c.code}
		}
	}
	return &refusal{engine.HTTPStatus(err), err.Error(), "", engine.Code(err)}
}

// errorBody is how OpenAI tells of an error.
type errorBody struct {
	Error errorObject `json:"error"`
}

type errorObject struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

func (r *refusal) body() errorBody {
	o := errorObject{Message: r.message, Type: r.kind()}
	if r.param != "" {
		o.Param = &r.param
	}
	if r.code != "" {
		o.Code = &r.code
	}
	return errorBody{o}
}

// kind is the type of OpenAI's error object.
func (r *refusal) kind() string {
	switch {
	case r.status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case r.status == http.StatusUnauthorized:
		return "authentication_error"
	case r.status < http.StatusInternalServerError:
		return "invalid_request_error"
	}
	return "server_error"
}

// retryAfter is how many seconds who was refused for now is told to wait.
const retryAfter = "1"

// later says whether the same request may be taken after a while.
func (r *refusal) later() bool {
	return r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable
}
