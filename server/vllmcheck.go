package server

import (
	"net/http"
	"slices"

	"github.com/cbactor/cbactor/weights"
)

// weightsKey is what the checksum of all tensors together is called among checksums, which
// vLLM has one of for each.
const weightsKey = "weights"

// checkParams are what POST /weight_checker takes.
type checkParams struct {
	Model    string            `json:"model"`
	Action   string            `json:"action"`   // "checksum" or "compare"
	Baseline map[string]string `json:"baseline"` // what an action checksum has answered
}

// checksums are what the action checksum answers.
type checksums struct {
	Checksums map[string]string `json:"checksums"`
}

// weightChecker answers POST /weight_checker: the checksum of the weights that serve, or
// whether it is what it was.
func (s *Server) weightChecker(w http.ResponseWriter, r *http.Request) error {
	var p checkParams
	if err := s.parameters(w, r, &p); err != nil {
		return err
	}
	m, _, err := s.find(p.Model)
	switch {
	case err != nil:
		return err
	case p.Action == "reset":
		return bad("action", "is reset, which would have the model compute with zeros: load other weights by /v1/weights/load")
	case p.Action != "checksum" && p.Action != "compare":
		return bad("action", "is %.40q, must be checksum or compare", p.Action)
	case p.Action == "compare" && p.Baseline == nil:
		return bad("baseline", "is missing: give what the action checksum has answered")
	}
	_, digest, err := m.Engine.Checksum(r.Context(), weights.SHA256)
	if err != nil {
		return err
	}
	if p.Action == "checksum" {
		return s.answer(w, http.StatusOK, checksums{map[string]string{weightsKey: digest.String()}})
	}
	return s.answer(w, http.StatusOK, compared(digest.String(), p.Baseline))
}

// comparison says whether weights are what they were.
type comparison struct {
	Match      bool     `json:"match"`
	Mismatches []string `json:"mismatches"`
}

// compared compares a checksum with those of before.
func compared(digest string, before map[string]string) comparison {
	c := comparison{Mismatches: []string{}}
	for key, value := range before {
		if key != weightsKey || value != digest {
			c.Mismatches = append(c.Mismatches, key)
		}
	}
	if _, there := before[weightsKey]; !there {
		c.Mismatches = append(c.Mismatches, weightsKey)
	}
	slices.Sort(c.Mismatches)
	c.Match = len(c.Mismatches) == 0
	return c
}
