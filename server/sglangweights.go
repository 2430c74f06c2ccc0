package server

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cbactor/cbactor/engine"
)

// diskUpdate is what POST /update_weights_from_disk takes. is_async, torch_empty_cache,
// keep_pause, recapture_cuda_graph, token_step and flush_cache have no effect: the answer comes
// when the weights compute, a pause is its holder's, there is nothing to capture, and nobody
// is given what others have cached under other weights.
type diskUpdate struct {
	Model  string  `json:"model"`
	Path   string  `json:"model_path"`
	Format *string `json:"load_format"`
	Label  string  `json:"weight_version"`
	Abort  bool    `json:"abort_all_requests"`

	Manifest jsontext.Value `json:"manifest"`
}

// diskUpdated is what it answers.
type diskUpdated struct {
	sglangDone
	Paused int64 `json:"num_paused_requests"` // that go on with the new weights
}

// diskFormats are the formats of SGLang's that weights are read in.
var diskFormats = []string{"", "auto", "safetensors"}

// updateFromDisk answers POST /update_weights_from_disk.
func (s *Server) updateFromDisk(w http.ResponseWriter, r *http.Request) error {
	var p diskUpdate
	if err := s.parameters(w, r, &p); err != nil {
		return s.sglangFailed(w, err)
	}
	m, _, err := s.find(p.Model)
	if err != nil {
		return s.sglangFailed(w, err)
	}
	told, paused, err := s.loadFromDisk(r.Context(), m, &p)
	if err != nil {
		return s.sglangFailed(w, err)
	}
	return s.answer(w, http.StatusOK, diskUpdated{sglangDone{true, "the weights are updated, and called " + told.Label}, paused})
}

// loadFromDisk lets weights from a path compute. Without a pause it waits for what is open,
// as SGLang does, so that nobody's tokens are of two versions who has not asked for it.
func (s *Server) loadFromDisk(ctx context.Context, m *Model, p *diskUpdate) (told versionTold, paused int64, err error) {
	switch {
	case p.Format != nil && !slices.Contains(diskFormats, *p.Format):
		return told, 0, bad("load_format", "is %.40q, must be auto or safetensors", *p.Format)
	case given(p.Manifest):
		return told, 0, bad("manifest", "is not supported: /v1/weights/updates takes one")
	case len(p.Label) > maxLabel:
		return told, 0, bad("weight_version", "has %d bytes, at most %d may be", len(p.Label), maxLabel)
	}
	o := loadOptions{param: "model_path", path: p.Path, label: p.Label}
	switch rests, _ := m.paused(); {
	case p.Abort:
		o.kv = engine.KVAbort
	case rests:
		paused = m.Engine.Metrics().Open
	default:
		hold, failed := m.Engine.Pause(ctx, engine.PauseOptions{Mode: engine.PauseWait})
		if failed != nil {
			return told, 0, failed
		}
		defer func() { err = errors.Join(err, hold.Release("")) }()
	}
	told, err = s.loadLabelled(ctx, m, o)
	return told, paused, err
}
