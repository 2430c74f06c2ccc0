package server

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// loadLabelled is loadWeights for trainers of other engines, whose words say less. Without a
// label the weights are called as their file or folder is. What becomes of requests that have
// begun is as whoever holds a pause has it, unless o says so. Where there is no memory for them
// beside those that serve, they are written over these, as those engines always do.
func (s *Server) loadLabelled(ctx context.Context, m *Model, o loadOptions) (told versionTold, err error) {
	o.label = cmp.Or(o.label, filepath.Base(o.path))
	if o.kv == engine.KVAsUpdate {
		if o.kv, err = m.policy(""); err != nil {
			return told, err
		}
	}
	told, err = s.loadWeights(ctx, m, o)
	if errors.Is(err, weights.ErrMemory) {
		o.inPlace = true
		told, err = s.loadWeights(ctx, m, o)
	}
	return told, err
}
