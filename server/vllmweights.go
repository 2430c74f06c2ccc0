package server

import (
	"maps"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// useFiles is what trainers are told whose weights come in a way that is not taken.
const useFiles = `write them as safetensors and send {"path": …} of the file or folder, or send them by /v1/weights/updates`

// vllmWeightParams are what routes of weights take.
type vllmWeightParams struct {
	Model      string                    `json:"model"`
	Init       map[string]jsontext.Value `json:"init_info"`
	Checkpoint *bool                     `json:"is_checkpoint_format"`
	Update     jsontext.Value            `json:"update_info"` // an object, or a list of one for each process, which is one
	Dir        *string                   `json:"weight_dir"`  // prime-rl's, whose skip_prefix_cache_reset has no effect
	Version    string                    `json:"weight_version"`
}

// vllmDone is what vLLM's routes answer that only do something, and prime-rl's.
type vllmDone struct {
	Message string `json:"message"`
	Status  string `json:"status"`
}

// initTransfer answers POST /init_weight_transfer_engine: there is nothing to agree upon for
// files.
func (s *Server) initTransfer(w http.ResponseWriter, r *http.Request) error {
	var p vllmWeightParams
	if err := s.asked(w, r, &p, &p.Model, func(_ *Model) error {
		for _, name := range slices.Sorted(maps.Keys(p.Init)) {
			return bad("init_info."+name, "is not taken, as there is no NCCL and no CUDA IPC: %s", useFiles)
		}
		return nil
	}); err != nil {
		return err
	}
	return s.say(w, "weights are taken from files")
}

// shutdownTransfer answers POST /shutdown_weight_transfer_engine.
func (s *Server) shutdownTransfer(w http.ResponseWriter, r *http.Request) error {
	var p vllmWeightParams
	if err := s.asked(w, r, &p, &p.Model, func(m *Model) error {
		if !m.trainer.handover.idle() {
			return errHandover
		}
		return nil
	}); err != nil {
		return err
	}
	return s.say(w, "no weights are under way")
}

// startUpdate answers POST /start_weight_update.
func (s *Server) startUpdate(w http.ResponseWriter, r *http.Request) error {
	var p vllmWeightParams
	if err := s.asked(w, r, &p, &p.Model, func(m *Model) error {
		if p.Checkpoint != nil && !*p.Checkpoint {
			return bad("is_checkpoint_format", "is false, must be true: tensors have the names that checkpoints have")
		}
		return m.trainer.handover.begin()
	}); err != nil {
		return err
	}
	return s.say(w, "a weight update is open")
}

// updateWeights answers POST /update_weights: with a path for the update that is open, or, as
// prime-rl asks, with a folder to load at once. An error ends the update that is open, as vLLM
// has it.
func (s *Server) updateWeights(w http.ResponseWriter, r *http.Request) error {
	var p vllmWeightParams
	message := "the path is noted"
	if err := s.asked(w, r, &p, &p.Model, func(m *Model) error {
		if p.Dir != nil {
			message = "the weights are updated"
			_, err := s.loadLabelled(r.Context(), m, loadOptions{param: "weight_dir", path: *p.Dir})
			return err
		}
		path, err := updatePath(p.Update)
		if err == nil {
			err = s.readable("update_info", path)
		}
		if err == nil {
			err = m.trainer.handover.tell(path)
		}
		if err != nil {
			m.trainer.handover.abandon()
		}
		return err
	}); err != nil {
		return err
	}
	return s.say(w, message)
}

// readable says whether there are tensors.
func (s *Server) readable(param, path string) error {
	stream, err := s.tensors(param, path)
	if err != nil {
		return err
	}
	return stream.Close()
}

// finishUpdate answers POST /finish_weight_update: what was told computes from then on, or the
// weights are as they were. The update is over in any case.
func (s *Server) finishUpdate(w http.ResponseWriter, r *http.Request) error {
	var p vllmWeightParams
	if err := s.asked(w, r, &p, &p.Model, func(m *Model) error {
		path, err := m.trainer.handover.end()
		switch {
		case err != nil:
			return err
		case path == "":
			return bad("update_info", "was never sent: call /update_weights before")
		}
		_, err = s.loadLabelled(r.Context(), m, loadOptions{param: "update_info", path: path, label: p.Version})
		return err
	}); err != nil {
		return err
	}
	return s.say(w, "the weights are updated")
}

// updatePath is the file or folder of an update_info.
func updatePath(info jsontext.Value) (string, error) {
	if !given(info) {
		return "", bad("update_info", "is missing: %s", useFiles)
	}
	if info.Kind() == '[' {
		var list []jsontext.Value
		if err := json.Unmarshal(info, &list); err != nil || len(list) != 1 {
			return "", bad("update_info", "has %d objects, must be one: there is one process", len(list))
		}
		info = list[0]
	}
	var u struct {
		Path string                    `json:"path"`
		Old  string                    `json:"weights_path"`
		Rest map[string]jsontext.Value `json:",embed"`
	}
	if err := json.Unmarshal(info, &u); err != nil {
		return "", bad("update_info", "must be an object: %s", useFiles)
	}
	for _, name := range slices.Sorted(maps.Keys(u.Rest)) {
		return "", bad("update_info."+name, "is not taken, as there is no NCCL and no CUDA IPC: %s", useFiles)
	}
	if u.Path == "" {
		u.Path = u.Old
	}
	if u.Path == "" {
		return "", bad("update_info", "has no path: %s", useFiles)
	}
	return u.Path, nil
}
