package server

import (
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// strict is parameters for routes of administrators that are nobody's but ours: a word that is
// not known is a mistake of who has typed it, and is refused, as are two values for one.
func (s *Server) strict(w http.ResponseWriter, r *http.Request, into any) error {
	if err := s.optional(w, r, into, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	return strictQuery(r.URL.Query(), into)
}

// strictQuery is fromQuery likewise, for a struct that has what came in the body.
func strictQuery(values url.Values, into any) error {
	address := reflect.New(reflect.TypeOf(into).Elem())
	if err := fromQuery(values, address.Interface()); err != nil {
		return err
	}
	all, body := fieldsOf(address.Elem()), fieldsOf(reflect.ValueOf(into).Elem())
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch value, known := all[name]; {
		case !known:
			return errUnknown(name)
		case slices.ContainsFunc(values[name], func(v string) bool { return v != values[name][0] }) && value.Kind() != reflect.Slice:
			return bad(name, "is given twice, and differs: give it once")
		case !body[name].IsZero() && !reflect.DeepEqual(body[name].Interface(), value.Interface()):
			return bad(name, "is given in the address and in the body, and differs: give it once")
		}
	}
	return fromQuery(values, into)
}

// fieldsOf are the fields of a struct by their names in JSON.
func fieldsOf(v reflect.Value) map[string]reflect.Value {
	fields := map[string]reflect.Value{}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			fields[name] = v.FieldByIndex(f.Index)
		}
	}
	return fields
}

// strictModel is the model that the address of such a route names, and nothing else.
func (s *Server) strictModel(r *http.Request) (*Model, error) {
	var p modelParams
	if err := strictQuery(r.URL.Query(), &p); err != nil {
		return nil, err
	}
	m, _, err := s.find(p.Model)
	return m, err
}

// errUnknown refuses a parameter that no route has.
func errUnknown(name string) error {
	return bad(name, "is not known here: docs/http.md has what is")
}
