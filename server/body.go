package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// read reads the JSON object of a client's request.
func (s *Server) read(w http.ResponseWriter, r *http.Request, into any) error {
	return s.object(w, r, into, maxWords)
}

// object reads the JSON object of a request, which has at most so many words.
func (s *Server) object(w http.ResponseWriter, r *http.Request, into any, words int, how ...json.Options) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" { // else any web page could have a browser send it
		return &refusal{http.StatusUnsupportedMediaType, "the body must be JSON: set the header Content-Type: application/json", "", "unsupported_media_type"}
	}
	body, err := s.body(w, r)
	if err != nil {
		return err
	}
	if len(body) == 0 {
		return badBody("it is empty: send an object")
	}
	if err := countable(body, words); err != nil {
		return err
	}
	if jsontext.Value(body).Kind() == 'n' { // would be as an object without keys
		return badBody("it must be an object")
	}
	if len(body) > largeBody {
		select {
		case s.decoders <- struct{}{}:
			defer func() { <-s.decoders }()
		case <-r.Context().Done():
			return context.Cause(r.Context())
		}
	}
	return parsed(unmarshal(body, into, how...))
}

// body reads the bytes of a request, in bounded space and time.
func (s *Server) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > s.limits.Body {
		return nil, errLarge(s.limits.Body)
	}
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(s.limits.Arrival)); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(&holding{http.MaxBytesReader(w, r.Body, s.limits.Body), s, accountOf(r)})
	switch {
	case errors.Is(err, errBodies):
		return nil, err
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, errLarge(s.limits.Body)
	case err != nil:
		return nil, s.lost(err)
	}
	return body, control.SetReadDeadline(time.Time{}) // it would end the watch over the connection
}

// lost refuses a body that could not be read.
func (s *Server) lost(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errArrival(s.limits.Arrival)
	}
	return badBody("it does not arrive: %v", err)
}

// errLarge refuses a body that has more bytes than there may be.
func errLarge(limit int64) error {
	return &refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes: send less at a time", limit), "", "body_too_large"}
}

// errArrival refuses a body that has not arrived in time, or a piece of one.
func errArrival(limit time.Duration) error {
	return &refusal{http.StatusRequestTimeout, fmt.Sprintf("the body did not arrive within %v", limit), "", "request_timeout"}
}

func badBody(format string, args ...any) error {
	return &refusal{http.StatusBadRequest, "the body is not taken: " + fmt.Sprintf(format, args...), "", "invalid_json"}
}

// parsed says in our words what is wrong with a body.
func parsed(err error) error {
	var syntax *jsontext.SyntacticError
	var meaning *json.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &meaning):
		return mistyped(meaning)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return badBody("it ends early")
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax):
		return badBody("%s is there twice", param(syntax.JSONPointer))
	case errors.As(err, &syntax):
		return badBody("byte %d: %v", syntax.ByteOffset+1, syntax.Err)
	}
	return badBody("%v", err)
}

// mistyped says what a value must be.
func mistyped(e *json.SemanticError) error {
	name := param(e.JSONPointer)
	if name == "" {
		return badBody("it must be an object")
	}
	if errors.Is(e.Err, json.ErrUnknownName) {
		return errUnknown(name)
	}
	var own *refusal
	if errors.As(e.Err, &own) {
		return bad(name, "%s", own.message)
	}
	return bad(name, "must be %s", wanted(e.GoType))
}

// readAt reads a value that was taken from a decoder, whose errors say where in all it stood.
func readAt(dec *jsontext.Decoder, value jsontext.Value, into any) error {
	err := unmarshal(value, into)
	var meaning *json.SemanticError
	if errors.As(err, &meaning) {
		meaning.JSONPointer = dec.StackPointer() + meaning.JSONPointer
	}
	return err
}

// param is the name of a parameter, with the places within it.
func param(p jsontext.Pointer) string {
	var names []string
	for token := range p.Tokens() {
		names = append(names, token)
	}
	return strings.Join(names, ".")
}

// must is an error of a type that reads itself, which says what it wants.
func must(format string, args ...any) error {
	return &refusal{message: "must be " + fmt.Sprintf(format, args...)}
}

// wanted is a type in words.
func wanted(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("a whole number of at most %d bits", t.Bits())
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}
