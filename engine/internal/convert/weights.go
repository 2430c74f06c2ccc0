package convert

import (
	"math"

	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/weights"
)

// maxDims bounds the dimensions of a tensor.
const maxDims = 8

// Shape is the shape of a tensor.
func Shape(shape []int) []int64 {
	out := make([]int64, len(shape))
	for i, n := range shape {
		out[i] = int64(n)
	}
	return out
}

// ShapeOf reads it: at most 8 dimensions, none of them negative.
func ShapeOf(shape []int64) ([]int, error) {
	if len(shape) > maxDims {
		return nil, refused("a tensor has %d dimensions, there may be %d", len(shape), maxDims)
	}
	out := make([]int, len(shape))
	for i, n := range shape {
		if n < 0 || n > math.MaxInt {
			return nil, refused("dimension %d of a tensor is %d", i, n)
		}
		out[i] = int(n)
	}
	return out, nil
}

// OffsetOf reads a place in bytes.
func OffsetOf(n uint64) (int, error) {
	if n > math.MaxInt {
		return 0, refused("the offset is %d", n)
	}
	return int(n), nil
}

// Manifests is a manifest in parts with at most about size bytes of entries each, one at
// least: for as many calls, one after the other.
func Manifests(m weights.Manifest, size int) ([]*messages.Manifest, error) {
	var parts []*messages.Manifest
	next := func() *messages.Manifest {
		return &messages.Manifest{Partial: m.Partial, Digest: m.Digest.String(), Result: m.Result.String(), More: true, Part: uint32(len(parts))}
	}
	part, bytes := next(), 0
	for _, e := range m.Tensors {
		for _, s := range []string{e.Name, e.DType} {
			if err := printed("the name or type of a tensor", s); err != nil {
				return nil, err
			}
		}
		one := &messages.Entry{Name: e.Name, Dtype: e.DType, Shape: Shape(e.Shape), Digest: e.Digest.String()}
		if n := entryBytes(one); len(part.Tensors) > 0 && bytes+n > size {
			parts = append(parts, part)
			part, bytes = next(), 0
		}
		part.Tensors, bytes = append(part.Tensors, one), bytes+entryBytes(one)
	}
	part.More = false
	return append(parts, part), nil
}

// entryBytes is how large an entry is in a message, at most.
func entryBytes(e *messages.Entry) int {
	return 32 + len(e.GetName()) + len(e.GetDtype()) + len(e.GetDigest()) + 10*len(e.GetShape())
}

// ManifestOf reads a part of a manifest.
func ManifestOf(m *messages.Manifest) (out weights.Manifest, err error) {
	out.Partial = m.GetPartial()
	if out.Digest, err = weights.ParseDigest(m.GetDigest()); err != nil {
		return out, err
	}
	if out.Result, err = weights.ParseDigest(m.GetResult()); err != nil {
		return out, err
	}
	if n := len(m.GetTensors()); n > 0 {
		out.Tensors = make([]weights.Entry, n)
	}
	for i, e := range m.GetTensors() {
		to := &out.Tensors[i]
		to.Name, to.DType = e.GetName(), e.GetDtype()
		if to.Shape, err = ShapeOf(e.GetShape()); err != nil {
			return out, err
		}
		if to.Digest, err = weights.ParseDigest(e.GetDigest()); err != nil {
			return out, err
		}
	}
	return out, nil
}

// Gaps is what has not arrived, the first most of it.
func Gaps(list []weights.Gap, most int) *messages.Gaps {
	m := &messages.Gaps{More: len(list) > most}
	for _, g := range list[:min(most, len(list))] {
		m.Gaps = append(m.Gaps, &messages.Gap{Name: g.Name, Offset: uint64(g.Offset), Bytes: uint64(g.Bytes)})
	}
	return m
}

// GapsOf reads it.
func GapsOf(m *messages.Gaps) ([]weights.Gap, error) {
	var list []weights.Gap
	for _, g := range m.GetGaps() {
		if g.GetOffset() > math.MaxInt || g.GetBytes() > math.MaxInt {
			return nil, malformed("%d bytes are missing from %d on", g.GetBytes(), g.GetOffset())
		}
		list = append(list, weights.Gap{Name: g.GetName(), Offset: int(g.GetOffset()), Bytes: int(g.GetBytes())})
	}
	return list, nil
}

// DigestKindOf reads the name of a hash function.
func DigestKindOf(name string) (weights.DigestKind, error) {
	for _, k := range []weights.DigestKind{weights.SHA256, weights.XXH3_64, weights.XXH3_128} {
		if k.String() == name {
			return k, nil
		}
	}
	return weights.NoDigest, refused("a digest of kind %.40q, must be sha256, xxh3-64 or xxh3-128", name)
}
