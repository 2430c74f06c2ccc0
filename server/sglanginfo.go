package server

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/sampling"
)

// sglangInfo is what SGLang tells of the processes that compute for a server: an engine is
// one, whatever computes for it.
type sglangInfo struct {
	Model      string `json:"model_path"`
	Name       string `json:"served_model_name"`
	Tensor     int    `json:"tp_size"`
	Data       int    `json:"dp_size"`
	Pipeline   int    `json:"pp_size"`
	Expert     int    `json:"ep_size"`
	Nodes      int    `json:"nnodes"`
	Node       int    `json:"node_rank"`
	MaxContext int    `json:"context_length"`
	MaxTokens  int    `json:"max_total_num_tokens"` // of all requests
	MaxOpen    int    `json:"max_running_requests"`
	KVType     string `json:"kv_cache_dtype"`
	Compute    string `json:"x_compute"` // what weights are multiplied as
	Version    string `json:"version"`
}

func (s *Server) sglangInfo(m *Model) sglangInfo {
	info := m.Engine.Info()
	return sglangInfo{Model: m.Name, Name: m.Name, Tensor: 1, Data: 1, Pipeline: 1, Expert: 1, Nodes: 1,
		MaxContext: info.MaxContext, MaxTokens: info.AllTokens(), MaxOpen: info.BatchRows, KVType: info.KVType, Compute: info.Compute, Version: s.options.Version}
}

type sglangModel struct {
	Model      string `json:"model_path"`
	Name       string `json:"served_model_name"`
	Tokenizer  string `json:"tokenizer_path"`
	Generates  bool   `json:"is_generation"`
	Version    string `json:"weight_version"`
	SeesImages bool   `json:"has_image_understanding"`
	HearsAudio bool   `json:"has_audio_understanding"`
}

// modelInfo answers GET /model_info.
func (s *Server) modelInfo(w http.ResponseWriter, r *http.Request) error {
	m, _, err := s.find(r.URL.Query().Get("model"))
	if err != nil {
		return err
	}
	return s.answer(w, http.StatusOK, sglangModel{Model: m.Name, Name: m.Name, Tokenizer: m.Name, Generates: true, Version: m.label(m.Engine.Version())})
}

// load is how much an engine has to do.
type load struct {
	Rank      int     `json:"dp_rank"`
	Running   int64   `json:"num_running_reqs"`
	Waiting   int64   `json:"num_waiting_reqs"` // also in line for room in the queue
	Used      int64   `json:"num_used_tokens"`
	MaxTokens int64   `json:"max_total_num_tokens"`
	MaxOpen   int     `json:"max_running_requests"`
	Usage     float64 `json:"token_usage"` // share of the cache that is not free
}

type loadList struct {
	Time    string `json:"timestamp"`
	Version string `json:"version"`
	Loads   []load `json:"loads"`
}

// loads answers GET /v1/loads. It has everything, whatever sections are asked for.
func (s *Server) loads(w http.ResponseWriter, r *http.Request) error {
	m, _, err := s.find(r.URL.Query().Get("model"))
	if err != nil {
		return err
	}
	if format := r.URL.Query().Get("format"); format != "" && format != "json" {
		return bad("format", "is %.40q, must be json", format)
	}
	info, now := m.Engine.Info(), m.Engine.Metrics()
	l := load{Running: now.Running, Waiting: max(0, now.Open-now.Running) + now.InLine, MaxOpen: info.BatchRows}
	l.MaxTokens = int64(info.AllTokens())
	if now.Blocks > 0 {
		l.Used = l.MaxTokens * (now.Blocks - now.BlocksFree) / now.Blocks
		l.Usage = float64(now.Blocks-now.BlocksFree) / float64(now.Blocks)
	}
	return s.answer(w, http.StatusOK, loadList{time.Now().UTC().Format(time.RFC3339Nano), s.options.Version, []load{l}})
}

// probeTime is how long a token may take that only shows that one can be generated.
const probeTime = 20 * time.Second

// healthGenerate answers GET /health_generate: each engine generates a token, unless it rests;
// of one that has something to do anyway it is seen that its steps advance.
func (s *Server) healthGenerate(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), probeTime)
	defer cancel()
	for i := range s.models {
		m := &s.models[i]
		if rests, _ := m.paused(); rests {
			continue
		}
		show := m.probe
		if m.Engine.Metrics().Open > 0 {
			show = m.advance
		}
		if err := show(ctx); err != nil {
			if rests, _ := m.paused(); !rests { // since it was asked
				return err
			}
		}
	}
	return s.health(w, r)
}

// advanceEvery is how often it is looked whether steps advance.
const advanceEvery = 5 * time.Millisecond

// advance waits until steps of an engine advance, or nothing is open, or it rests.
func (m *Model) advance(ctx context.Context) error {
	before := m.Engine.Metrics().Steps
	look := time.NewTicker(advanceEvery)
	defer look.Stop()
	for {
		now := m.Engine.Metrics()
		if rests, _ := m.paused(); rests || now.Steps != before || now.Open == 0 {
			return nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return errHangs
			}
			return context.Cause(ctx) // the client has gone
		}
	}
}

// probe generates a token.
func (m *Model) probe(ctx context.Context) error {
	stream, err := m.Texts.Generate(ctx, texts.Request{Prompt: texts.Prompt{IDs: []int32{0}}, Request: engine.Request{MaxNewTokens: 1, Private: true, Sampling: sampling.Params{}}})
	if err != nil {
		return err
	}
	out := stream.Wait(ctx)
	if out.FinishReason == engine.FinishFailed {
		return out.Err
	}
	return context.Cause(ctx)
}
