package engine

import (
	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/weights"
)

// ManifestOf lists the tensors that a stream sends, without digests. It is of a part of the
// weights if the stream says so of itself.
func ManifestOf(s *checkpoint.Stream) weights.Manifest {
	m := weights.Manifest{Partial: s.Metadata[checkpoint.MetaSparse] == "true"}
	for _, t := range s.Tensors() {
		m.Tensors = append(m.Tensors, weights.Entry{Name: t.Name, DType: t.DType, Shape: t.Shape})
	}
	return m
}
