package server

import (
	"net/http"

	"github.com/cbactor/cbactor/weights"
)

// checked is what one of SGLang's processes tells of its weights: an engine is one.
type checked struct {
	Checksums map[string]string `json:"checksums"` // of all tensors together, where SGLang has one for each
	Whole     string            `json:"per_gpu_checksum"`
	Processes []checkedProcess  `json:"parallelism_info"`
}

type checkedProcess struct {
	Role   string `json:"role"`
	Rank   int    `json:"rank"`
	Size   int    `json:"size"`
	Tensor int    `json:"tp_size"`
}

type sglangCheckParams struct {
	Model    string   `json:"model"`
	Action   string   `json:"action"`
	Selector string   `json:"selector"`
	Skip     []string `json:"skip_tensor_list"`
}

type sglangChecked struct {
	sglangDone
	Ranks []checked `json:"ranks"`
	Whole string    `json:"per_engine_checksum"`
}

// weightsChecker answers GET and POST /weights_checker.
func (s *Server) weightsChecker(w http.ResponseWriter, r *http.Request) error {
	var p sglangCheckParams
	if err := s.parameters(w, r, &p); err != nil {
		return s.sglangFailed(w, err)
	}
	m, _, err := s.find(p.Model)
	switch {
	case err != nil:
		return s.sglangFailed(w, err)
	case p.Action != "" && p.Action != "checksum":
		return s.sglangFailed(w, bad("action", "is %.40q, must be checksum: compare two of them", p.Action))
	case p.Selector == "draft":
		return s.sglangFailed(w, bad("selector", "is draft, and there is no draft model"))
	case len(p.Skip) > 0:
		return s.sglangFailed(w, bad("skip_tensor_list", "is not supported: the checksum is of all tensors together"))
	}
	version, digest, err := m.Engine.Checksum(r.Context(), weights.SHA256)
	if err != nil {
		return s.sglangFailed(w, err)
	}
	sum := digest.String()
	return s.answer(w, http.StatusOK, sglangChecked{sglangDone{true, "the weights are called " + m.label(version)}, []checked{{map[string]string{weightsKey: sum}, sum, []checkedProcess{{"target", 0, 1, 1}}}}, sum})
}
