package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/remote"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/text"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long anything may take that must happen.
const patience = 30 * time.Second

// rig is a server over HTTP, and what it serves.
type rig struct {
	t      *testing.T
	url    string
	server *Server
	engine *engine.Engine
	codec  *text.Codec
}

// tinyModel is the embedded model and its codec.
func tinyModel(t *testing.T) (*checkpoint.Checkpoint, *text.Codec) {
	t.Helper()
	model, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	})
	codec, err := text.Load(model)
	if err != nil {
		t.Fatal(err)
	}
	return model, codec
}

// serveTiny serves the tiny model.
func serveTiny(t *testing.T, cfg engine.Config, o Options) *rig {
	t.Helper()
	model, codec := tinyModel(t)
	cfg.Checkpoint = model
	return serve(t, cfg, o, codec, nil)
}

// serveEcho serves an echo that has the tiny model's vocabulary, words and ends. With script,
// every sequence gets these tokens.
func serveEcho(t *testing.T, ec executor.EchoConfig, cfg engine.Config, o Options, script ...int32) *rig {
	t.Helper()
	model, codec := tinyModel(t)
	ec.Vocab = 2048
	cfg.Checkpoint, cfg.Executor = model, executor.NewEcho(ec)
	return serve(t, cfg, o, codec, script)
}

func serve(t *testing.T, cfg engine.Config, o Options, codec *text.Codec, script []int32) *rig {
	t.Helper()
	e, err := engine.Spawn(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	var words texts.Service = texts.New(e, codec)
	if script != nil {
		words = scripted{words, script}
	}
	o.Models = []Model{{Name: "tiny", Engine: e, Texts: words, Spell: codec.Spell, Shown: codec.TokenBytes, Defaults: &sampling.Params{}}}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, engine: e, codec: codec}
	r.serveBy(s)
	return r
}

// serveBy has the calls of a rig answered by a server.
func (r *rig) serveBy(s *Server) {
	front := httptest.NewServer(contracted(r.t, s.Handler()))
	r.t.Cleanup(front.Close)
	r.url, r.server = front.URL, s
}

// scripted has every sequence of a service draw the same tokens.
type scripted struct {
	texts.Service
	ids []int32
}

func (s scripted) Generate(ctx context.Context, r texts.Request) (texts.Stream, error) {
	r.Sampling.Processor = s
	return s.Service.Generate(ctx, r)
}

// Process implements sampling.Processor.
func (s scripted) Process(ids []int32, prompt int, logits []float32) error {
	next := s.ids[min(len(ids)-prompt, len(s.ids)-1)]
	for i := range logits {
		if int32(i) != next {
			logits[i] = float32(math.Inf(-1))
		}
	}
	return nil
}

// post sends a body, JSON unless it is text, and answers status, header and body.
func (r *rig) post(path string, body any) (int, http.Header, []byte) {
	r.t.Helper()
	resp := r.open(r.t.Context(), path, body)
	defer drop(r.t, resp)
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, data
}

// open begins a call.
func (r *rig) open(ctx context.Context, path string, body any) *http.Response {
	r.t.Helper()
	resp, err := http.DefaultClient.Do(r.request(ctx, path, body))
	if err != nil {
		r.t.Fatal(err)
	}
	return resp
}

func (r *rig) request(ctx context.Context, path string, body any) *http.Request {
	r.t.Helper()
	data, isText := body.(string)
	if !isText {
		raw, err := json.Marshal(body)
		if err != nil {
			r.t.Fatal(err)
		}
		data = string(raw)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+path, strings.NewReader(data))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}

func drop(t *testing.T, resp *http.Response) {
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
}

// object is JSON to send.
type object = map[string]any

// told is an answer, of any route.
type told struct {
	ID, Object, Model string
	Created           int64
	PromptIDs         []int32 `json:"prompt_token_ids"`
	Choices           []toldChoice
	Usage             *toldUsage
	Error             *toldError
}

type toldChoice struct {
	Index        int
	Text         string
	Message      toldMessage
	Delta        toldMessage
	FinishReason string       `json:"finish_reason"`
	StopReason   any          `json:"stop_reason"`
	PromptIDs    []int32      `json:"prompt_token_ids"`
	IDs          []int32      `json:"token_ids"`
	Weights      *weightsTold `json:"x_weights"`
	Processed    []float64    `json:"x_logprobs"`
	Logprobs     *struct {
		Tokens  []string
		Own     []*float64           `json:"token_logprobs"`
		Top     []map[string]float64 `json:"top_logprobs"`
		Offsets []int                `json:"text_offset"`
		Content []struct {
			Token   string
			Logprob float64
			Bytes   []int
			Top     []struct{ Token string } `json:"top_logprobs"`
		}
	}
}

type toldMessage struct {
	Role, Content string
	ToolCalls     []toolCall `json:"tool_calls"`
}

type toldUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

type toldError struct {
	Message, Type string
	Param, Code   *string
}

// ask sends a call that must be answered.
func (r *rig) ask(path string, body any) told {
	r.t.Helper()
	status, _, data := r.post(path, body)
	if status != http.StatusOK {
		r.t.Fatalf("%v: %d: %s", body, status, data)
	}
	return r.read(data)
}

func (r *rig) read(data []byte) (a told) {
	r.t.Helper()
	r.decode(data, &a)
	return a
}

func (r *rig) decode(data []byte, into any) {
	r.t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		r.t.Fatalf("%v in %s", err, data)
	}
}

// refused sends a call that must be refused, about a parameter, and by a code.
func (r *rig) refused(path string, body any, status int, param, code string) string {
	r.t.Helper()
	got, header, data := r.post(path, body)
	show := fmt.Sprint(body)
	show = show[:min(len(show), 200)]
	a := r.read(data)
	if got != status || a.Error == nil || a.Error.Message == "" || a.Error.Type == "" || value(a.Error.Param) != param || value(a.Error.Code) != code {
		r.t.Errorf("%s: %d %s, want %d about %q by %q", show, got, data, status, param, code)
		return ""
	}
	if later := status == 429 || status == 503; later != (header.Get("Retry-After") != "") {
		r.t.Errorf("%s: %d with Retry-After %q", show, status, header.Get("Retry-After"))
	}
	return a.Error.Message
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// events sends a call that is streamed and gives its events.
func (r *rig) events(path string, body object) []told {
	r.t.Helper()
	return r.tell(r.data(path, body))
}

func (r *rig) tell(events [][]byte) (list []told) {
	r.t.Helper()
	for _, data := range events {
		list = append(list, r.read(data))
	}
	return list
}

// data sends a call that is streamed and gives the JSON of its events, without [DONE], which
// must be last.
func (r *rig) data(path string, body object) [][]byte {
	r.t.Helper()
	body["stream"] = true
	resp := r.open(r.t.Context(), path, body)
	defer drop(r.t, resp)
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || kind != "text/event-stream" {
		r.t.Fatalf("%v: %d %s", body, resp.StatusCode, kind)
	}
	return r.list(resp.Body)
}

// list reads events to their end.
func (r *rig) list(from io.Reader) [][]byte {
	r.t.Helper()
	var list [][]byte
	done := false
	for lines := bufio.NewScanner(from); lines.Scan(); {
		data, found := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		switch {
		case !found && len(lines.Bytes()) > 0 || done && found:
			r.t.Fatalf("a line %q", lines.Text())
		case string(data) == "[DONE]":
			done = true
		case found:
			list = append(list, bytes.Clone(data))
		}
	}
	if !done {
		r.t.Fatal("the stream ends without [DONE]")
	}
	return list
}

// streamed puts the events of a call together, as a whole answer.
func (r *rig) streamed(path string, body object) told {
	r.t.Helper()
	return r.joined(r.events(path, body))
}

func (r *rig) joined(events []told) told {
	r.t.Helper()
	var all told
	for _, e := range events {
		if e.Error != nil {
			r.t.Fatal(e.Error.Message)
		}
		if all.ID == "" {
			all = told{ID: e.ID, Created: e.Created, Model: e.Model}
		}
		if e.ID != all.ID || e.Created != all.Created || e.Model != all.Model {
			r.t.Errorf("%+v in a stream of %+v", e, all)
		}
		if e.Usage != nil {
			all.Usage = e.Usage
		}
		if e.PromptIDs != nil {
			all.PromptIDs = e.PromptIDs
		}
		for _, c := range e.Choices {
			all.Choices = append(all.Choices, make([]toldChoice, max(0, c.Index+1-len(all.Choices)))...)
			all.Choices[c.Index].join(c)
		}
	}
	return all
}

func (c *toldChoice) join(d toldChoice) {
	c.Index = d.Index
	c.Text += d.Text
	c.Message.Content += d.Delta.Content
	c.Message.Role += d.Delta.Role
	for _, call := range d.Delta.ToolCalls {
		if *call.Index == len(c.Message.ToolCalls) {
			c.Message.ToolCalls = append(c.Message.ToolCalls, toolCall{ID: call.ID, Type: call.Type, Function: called{Name: call.Function.Name}})
		}
		c.Message.ToolCalls[*call.Index].Function.Arguments += call.Function.Arguments
	}
	c.FinishReason += d.FinishReason
	c.IDs = slices.Concat(c.IDs, d.IDs)
	c.PromptIDs = slices.Concat(c.PromptIDs, d.PromptIDs)
	c.Processed = slices.Concat(c.Processed, d.Processed)
	if d.Weights != nil { // the last chunk has all
		c.Weights = d.Weights
	}
	if d.StopReason != nil {
		c.StopReason = d.StopReason
	}
	if d.Logprobs == nil || c.Logprobs == nil {
		if d.Logprobs != nil {
			c.Logprobs = d.Logprobs
		}
		return
	}
	l := c.Logprobs
	l.Tokens, l.Own = append(l.Tokens, d.Logprobs.Tokens...), append(l.Own, d.Logprobs.Own...)
	l.Top, l.Offsets = append(l.Top, d.Logprobs.Top...), append(l.Offsets, d.Logprobs.Offsets...)
	l.Content = append(l.Content, d.Logprobs.Content...)
}

// elsewhere is a client of the rig's engine over the network.
func (r *rig) elsewhere() *remote.Client {
	r.t.Helper()
	g, err := gateway.New(r.engine, texts.New(r.engine, r.codec), gateway.Options{Listen: "127.0.0.1:0", Log: zerolog.Nop()})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(g.Close)
	client, err := remote.Connect(r.t.Context(), g.Addr().String(), remote.Options{Log: zerolog.Nop()})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := client.Close(); err != nil {
			r.t.Error(err)
		}
	})
	return client
}

// resting waits until an engine has nothing to do, and every block is free.
func (r *rig) resting() {
	r.t.Helper()
	r.until("nothing is open and all blocks are free", func() bool {
		m := r.engine.Metrics()
		return m.Open == 0 && m.Waiting == 0 && m.Running == 0 && m.BlocksFree == m.Blocks
	})
}

// opened waits until so many calls may be aborted.
func (r *rig) opened(n int) {
	r.t.Helper()
	r.until("calls are open", func() bool {
		o := &r.server.open
		o.mu.Lock()
		defer o.mu.Unlock()
		return len(o.list) == n
	})
}

func (r *rig) until(what string, holds func() bool) {
	r.t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("not so after %v: %s: %+v", patience, what, r.engine.Metrics())
		}
	}
}
