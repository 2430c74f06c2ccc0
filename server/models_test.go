package server

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// into reads the answer of a call that must be answered.
func (r *rig) into(v any, path string, body any) {
	r.t.Helper()
	status, _, data := r.post(path, body)
	if err := json.Unmarshal(data, v); err != nil || status != 200 {
		r.t.Fatalf("%s %v: %d %s %v", path, body, status, data, err)
	}
}

// get reads what is at a path.
func (r *rig) get(path string, v any) (status int) {
	r.t.Helper()
	resp, err := http.Get(r.url + path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer drop(r.t, resp)
	data, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		r.t.Fatalf("%s: %v: %s", path, err, data)
	}
	return resp.StatusCode
}

// A missing model is the one that is served; of several none is.
func TestModels(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 64, Context: 256}, engine.Config{}, Options{})
	var list struct {
		Object string
		Data   []struct {
			ID, Object string
			Max        int `json:"max_model_len"`
		}
	}
	if status := r.get("/v1/models", &list); status != 200 || list.Object != "list" || len(list.Data) != 1 || list.Data[0].ID != "tiny" || list.Data[0].Max != 256 {
		t.Errorf("%d %+v", status, list)
	}
	var one struct{ ID, Object string }
	if status := r.get("/v1/models/tiny", &one); status != 200 || one.ID != "tiny" || one.Object != "model" {
		t.Errorf("%d %+v", status, one)
	}
	var not told
	if status := r.get("/v1/models/no/body", &not); status != 404 || value(not.Error.Code) != "model_not_found" {
		t.Errorf("%d %+v", status, not)
	}
	if a := r.ask(completionsPath, object{"prompt": "a", "model": ""}); a.Model != "tiny" {
		t.Errorf("%+v", a)
	}
	if _, err := New(Options{}); err == nil {
		t.Error("a server without models")
	}
	m := r.server.models[0]
	if _, err := New(Options{Models: []Model{m, m}}); err == nil {
		t.Error("two models of a name")
	}
	two := m
	two.Name = "two"
	s, err := New(Options{Models: []Model{m, two}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.find(""); err == nil {
		t.Error("none of two was asked for, and found")
	}
	if got, _, err := s.find("two"); err != nil || got.Name != "two" {
		t.Errorf("%+v %v", got, err)
	}
}

// Texts become ids as prompts do, and ids texts.
func TestTokenize(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	const words = "Once upon a time"
	type answer struct {
		Count  int
		Max    int `json:"max_model_len"`
		Tokens []int32
		Strs   []string `json:"token_strs"`
	}
	for _, c := range []struct {
		body object
		want []int32
	}{
		{object{"prompt": words}, r.codec.Encode(words)},
		{object{"prompt": words, "add_special_tokens": true}, r.codec.Encode(words)},
		{object{"prompt": words, "add_special_tokens": false, "return_token_strs": true}, r.codec.EncodeRaw(words)},
		{object{"prompt": "", "add_special_tokens": false}, []int32{}},
	} {
		var got answer
		r.into(&got, "/tokenize", c.body)
		if !slices.Equal(got.Tokens, c.want) || got.Count != len(c.want) || got.Max != 128 {
			t.Errorf("%v: %+v", c.body, got)
		}
		if c.body["return_token_strs"] != nil && (len(got.Strs) != got.Count || got.Strs[0] != string(r.codec.Spell(got.Tokens[0]))) {
			t.Errorf("%v: %q", c.body, got.Strs)
		}
	}
	var back struct{ Prompt string }
	r.into(&back, "/detokenize", object{"tokens": r.codec.Encode(words)})
	if back.Prompt != words {
		t.Errorf("back: %q", back.Prompt)
	}
	r.refused("/tokenize", object{"prompt": "a", "messages": say("a")}, 400, "messages", "invalid_value")
	if m := r.refused("/tokenize", object{}, 400, "prompt", "invalid_value"); !strings.Contains(m, "give prompt or messages") {
		t.Error(m)
	}
	r.refused("/tokenize", object{"messages": say("a"), "add_special_tokens": true}, 400, "add_special_tokens", "invalid_value")
	r.refused("/tokenize", object{"prompt": "a", "model": "nobody"}, 404, "model", "model_not_found")
	r.refused("/detokenize", object{"tokens": "a"}, 400, "tokens", "invalid_value")
	r.refused("/detokenize", object{"tokens": []int32{1, 99999}}, 400, "tokens", "invalid_token_id")
	r.refused("/detokenize", object{"tokens": []int32{-1}}, 400, "tokens", "invalid_token_id")
}
