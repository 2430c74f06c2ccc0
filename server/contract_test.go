package server

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// contract holds what a server takes and answers against its description. Bodies and streams
// that are very long are held against it as far as that is not.
type contract struct {
	t       *testing.T
	handler http.Handler
	paths   *http.ServeMux // finds the route of a request
}

// rules are the schemas of the description.
var rules struct {
	mu   sync.Mutex
	from *jsonschema.Compiler          // nil: not yet
	made map[string]*jsonschema.Schema // by where they stand; nil: nothing stands there
}

// most of a body, and of an event, that is held against the description.
const most = 64 << 10

const document = "openapi.json"

// contracted is a handler whose answers are held against the description.
func contracted(t *testing.T, handler http.Handler) http.Handler {
	paths := http.NewServeMux()
	for path, list := range byPath(slices.Concat(routes, adminRoutes)) {
		if _, known := operations[list[0].method+" "+path]; known {
			paths.Handle(path, http.NotFoundHandler())
		}
	}
	return &contract{t, handler, paths}
}

// ServeHTTP implements http.Handler.
func (c *contract) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, path := c.paths.Handler(r)
	if path == "" || path == "/" || r.Method == http.MethodHead {
		c.handler.ServeHTTP(w, r)
		return
	}
	asked, told := &kept{}, &teller{ResponseWriter: w}
	if r.Body != nil {
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(r.Body, asked), r.Body}
	}
	defer func() {
		c.hold(strings.ToLower(r.Method), strings.ReplaceAll(path, "...}", "}"), strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"), asked, told)
	}()
	c.handler.ServeHTTP(told, r)
}

// hold holds a call, whose body may be JSON, against the description of its route.
func (c *contract) hold(method, path string, json bool, asked *kept, told *teller) {
	at := pointer("paths", path, method)
	answers := at + pointer("responses", strconv.Itoa(told.status))
	for _, other := range []string{at + pointer("responses", strconv.Itoa(told.status/100)+"XX"), pointer("components", "responses", "Error")} {
		if told.status >= 400 && rule(answers+pointer("content", "application/json", "schema")) == nil {
			answers = other
		}
	}
	kind, _, _ := strings.Cut(told.Header().Get("Content-Type"), ";")
	switch {
	case told.status == http.StatusNoContent && told.data.Len() == 0:
	case told.status == 0 || told.data.cut && kind == "application/json": // nothing came, or too much
	case kind == "text/event-stream":
		stream := whole(told.data.Bytes())
		if len(stream) == 0 {
			break // cut off before its first event was written
		}
		for _, piece := range pieces(stream) {
			c.valid(at, answers+pointer("content", kind, "schema", "properties", "data", "contentSchema"), piece)
		}
	case kind != "application/json":
		if page := answers + pointer("content", kind, "schema"); rule(page) == nil {
			c.t.Errorf("%s: nothing describes %s", at, page)
		}
	default:
		c.valid(at, answers+pointer("content", kind, "schema"), told.data.Bytes())
	}
	if told.status < 300 && asked.Len() > 0 && !asked.cut && json {
		c.valid(at+" takes", at+pointer("requestBody", "content", "application/json", "schema"), asked.Bytes())
	}
}

// whole is the events of a stream that came whole.
func whole(stream []byte) []byte { return stream[:bytes.LastIndex(stream, []byte("\n\n"))+1] }

// pointer is where something stands in a document, as RFC 6901 has it.
func pointer(names ...string) (p string) {
	for _, name := range names {
		p += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	return p
}

// rule is the schema that stands there; nil: none does.
func rule(at string) *jsonschema.Schema {
	rules.mu.Lock()
	defer rules.mu.Unlock()
	if rules.from == nil {
		data, err := json.Marshal(described(true))
		if err != nil {
			panic(err)
		}
		parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			panic(err)
		}
		rules.from, rules.made = jsonschema.NewCompiler(), map[string]*jsonschema.Schema{}
		if err := rules.from.AddResource(document, parsed); err != nil {
			panic(err)
		}
	}
	s, known := rules.made[at]
	if !known {
		s, _ = rules.from.Compile(document + "#" + at) // an error says that nothing is there
		rules.made[at] = s
	}
	return s
}

func (c *contract) valid(about, at string, data []byte) {
	s := rule(at)
	if s == nil {
		c.t.Errorf("%s: nothing describes %s: %.300s", about, at, data)
		return
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err == nil {
		err = s.Validate(v)
	}
	if err != nil {
		c.t.Errorf("%s: %v in %.600s", about, err, data)
	}
}

// kept is the beginning of what was written to it.
type kept struct {
	bytes.Buffer
	cut bool
}

// Write implements io.Writer.
func (k *kept) Write(p []byte) (int, error) {
	if room := most - k.Len(); room < len(p) {
		k.cut = true
		k.Buffer.Write(p[:room])
		return len(p), nil
	}
	return k.Buffer.Write(p)
}

// teller keeps what a client is told.
type teller struct {
	http.ResponseWriter
	status int
	data   kept
}

// WriteHeader implements http.ResponseWriter.
func (t *teller) WriteHeader(status int) {
	t.status = status
	t.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (t *teller) Write(p []byte) (int, error) {
	if t.status == 0 {
		t.status = http.StatusOK
	}
	if _, err := t.data.Write(p); err != nil {
		return 0, err
	}
	return t.ResponseWriter.Write(p)
}

// Unwrap is for http.ResponseController.
func (t *teller) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// What differs from the description is found.
func TestContractFindsWhatDiffers(t *testing.T) {
	for name, c := range map[string]struct{ path, kind, asked, told string }{
		"more":      {"/version", "application/json", "", `{"version":"1","more":1}`},
		"less":      {"/version", "application/json", "", `{}`},
		"event":     {"/v1/completions", "text/event-stream", "", "data: {\"id\":\"a\"}\n\n"},
		"kind":      {"/version", "text/plain", "", `1`},
		"a request": {"/detokenize", "application/json", `{"tokens":["a"]}`, `{"prompt":""}`},
	} {
		inner := new(testing.T)
		h := contracted(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", c.kind)
			if _, err := io.WriteString(w, c.told); err != nil {
				t.Error(err)
			}
		}))
		h.(*contract).t = inner
		method := http.MethodGet
		if c.path != "/version" {
			method = http.MethodPost
		}
		r := httptest.NewRequest(method, c.path, strings.NewReader(c.asked))
		r.Header.Set("Content-Type", "application/json")
		h.ServeHTTP(httptest.NewRecorder(), r)
		if !inner.Failed() {
			t.Errorf("%s is not found", name)
		}
	}
}
