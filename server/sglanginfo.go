package server

import (
	"context"
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
	Version    string `json:"version"`
}

func (s *Server) sglangInfo(m *Model) sglangInfo {
	info := m.Engine.Info()
	return sglangInfo{Model: m.Name, Name: m.Name, Tensor: 1, Data: 1, Pipeline: 1, Expert: 1, Nodes: 1,
		MaxContext: info.MaxContext, MaxTokens: info.Blocks * info.PageSize, MaxOpen: info.BatchRows, Version: s.options.Version}
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
	l.Used, l.MaxTokens = (now.Blocks-now.BlocksFree)*int64(info.PageSize), now.Blocks*int64(info.PageSize)
	if now.Blocks > 0 {
		l.Usage = float64(now.Blocks-now.BlocksFree) / float64(now.Blocks)
	}
	return s.answer(w, http.StatusOK, loadList{time.Now().UTC().Format(time.RFC3339Nano), s.options.Version, []load{l}})
}

// probeTime is how long a token may take that only shows that one can be generated.
const probeTime = 20 * time.Second

// healthGenerate answers GET /health_generate: each engine generates a token, unless it rests
// or has something to do anyway.
func (s *Server) healthGenerate(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), probeTime)
	defer cancel()
	for i := range s.models {
		m := &s.models[i]
		if rests, _ := m.paused(); rests || m.Engine.Metrics().Open > 0 {
			continue
		}
		if err := m.probe(ctx); err != nil {
			if rests, _ := m.paused(); !rests { // since it was asked
				return err
			}
		}
	}
	return s.health(w, r)
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
