package server

import (
	"context"
	"path/filepath"

	"github.com/cbactor/cbactor/engine"
)

// loadLabelled is loadWeights for trainers of other engines, whose words say less. Without a
// label the weights are called as their file or folder is, with a number behind it where others
// were: nobody asked for that name. What becomes of requests that have
// begun is as whoever holds a pause has it, unless o says so. Where there is no memory for them
// beside those that serve, they are written over these, as those engines always do.
func (s *Server) loadLabelled(ctx context.Context, m *Model, o loadOptions) (told versionTold, err error) {
	if o.label == "" {
		o.label, o.numbered = pathName(o.path), true
	}
	if o.kv == engine.KVAsUpdate {
		if o.kv, err = m.policy(""); err != nil {
			return told, err
		}
	}
	o.yielding = true
	return s.loadWeights(ctx, m, o)
}

// pathName is what weights from a path are called: as its last part, but for a file that is
// called as it is in every checkpoint, as its folder.
func pathName(path string) string {
	path = filepath.Clean(path)
	if name := filepath.Base(filepath.Dir(path)); filepath.Base(path) == "model.safetensors" && name != "." && name != string(filepath.Separator) {
		return name
	}
	return filepath.Base(path)
}
