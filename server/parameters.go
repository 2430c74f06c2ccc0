package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// parameters reads what a route of administrators takes in its body, a JSON object, and in its
// address, which goes before. Both may be missing.
func (s *Server) parameters(w http.ResponseWriter, r *http.Request, into any) error {
	if err := s.optional(w, r, into); err != nil {
		return err
	}
	return fromQuery(r.URL.Query(), into)
}

// optional reads the JSON object of an administrator's request, if it has a body.
func (s *Server) optional(w http.ResponseWriter, r *http.Request, into any, how ...json.Options) error {
	none, err := s.empty(w, r)
	if none || err != nil {
		return err
	}
	return s.object(w, r, into, maxAdminWords, how...)
}

// empty says whether a request has no body, which one that comes in chunks shows with its end.
func (s *Server) empty(w http.ResponseWriter, r *http.Request) (bool, error) {
	if r.ContentLength >= 0 {
		return r.ContentLength == 0, nil
	}
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.limits.Arrival)); err != nil {
		return false, err
	}
	var first [1]byte
	switch _, err := io.ReadFull(r.Body, first[:]); {
	case errors.Is(err, io.EOF):
		return true, nil
	case err != nil:
		return false, s.lost(err)
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(first[:]), r.Body), r.Body}
	return false, nil
}

// modelParams are what routes take that need to know the model alone.
type modelParams struct {
	Model string `json:"model"` // "": the only one there is
}

// fromQuery sets the fields of a struct that stand in an address by their names in JSON.
func fromQuery(values url.Values, into any) error {
	object := map[string]any{}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(into).Elem()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if list, given := values[name]; given && name != "" {
			object[name] = asJSON(f.Type, list)
		}
	}
	data, err := encode(object)
	if err != nil {
		return badBody("the address is no text")
	}
	return parsed(unmarshal(data, into))
}

// asJSON is what an address has for a field, as JSON has it. What is none of the type stays a
// text, so that it is refused as one.
func asJSON(t reflect.Type, list []string) any {
	last := list[len(list)-1]
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice:
		return list
	case reflect.Bool:
		if b, err := strconv.ParseBool(last); err == nil {
			return b
		}
	case reflect.Int, reflect.Int64, reflect.Float64:
		if v := jsontext.Value(last); v.IsValid() && v.Kind() == '0' {
			return v
		}
	}
	return last
}

// asked reads what a route of trainers takes into p, which has the model's name at model, and
// does something about that model.
func (s *Server) asked(w http.ResponseWriter, r *http.Request, p any, model *string, do func(*Model) error) error {
	if err := s.parameters(w, r, p); err != nil {
		return err
	}
	m, _, err := s.find(*model)
	if err != nil {
		return err
	}
	return do(m)
}
