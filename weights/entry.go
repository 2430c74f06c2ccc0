package weights

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// window is how many bytes are hashed, inspected and cast in turn: they stay in
// the second cache.
const window = 256 << 10

// entry is one tensor that is sent.
type entry struct {
	Entry
	slot     *slot
	at, size int // where in the slot's bytes it lies
	unit     int // bytes of a number
	got      ranges
	checked  int // bytes that were hashed, inspected and cast: from the first on
	sums     []*Hash
}

// accepts compares what a chunk says of itself with the manifest.
func (e *entry) accepts(dtype string, shape []int, offset, n int) error {
	switch {
	case dtype != e.DType:
		return fmt.Errorf("%w: a chunk of %s is %.40q, the manifest says %s", ErrDType, e.Name, dtype, e.DType)
	case !slices.Equal(shape, e.Shape):
		return fmt.Errorf("%w: a chunk of %s is of shape %v, the manifest says %v", ErrShape, e.Name, few(shape), e.Shape)
	case offset < 0 || offset > e.size || n > e.size-offset:
		return fmt.Errorf("%w: %d bytes at %d of %s, which has %d", ErrChunk, n, offset, e.Name, e.size)
	case offset%e.unit != 0 || n%e.unit != 0:
		return fmt.Errorf("%w: %d bytes at %d of %s, whose numbers have %d", ErrChunk, n, offset, e.Name, e.unit)
	}
	return nil
}

// advance checks the bytes that have arrived without a gap. What comes in order is
// checked while it is in the cache.
func (e *entry) advance() error {
	s := e.slot
	for end := e.got.prefix(); e.checked < end; {
		part := s.raw[e.at+e.checked:][:min(window, end-e.checked)]
		var stored []byte
		if s.casts() && e == s.entries[0] {
			stored = s.block.data[e.checked/e.unit*s.to.RowBytes(1):]
		}
		if err := e.check(part, stored); err != nil {
			return err
		}
	}
	return nil
}

// check hashes and inspects the next bytes, and casts them to stored where that is
// wanted.
func (e *entry) check(part, stored []byte) error {
	s := e.slot
	for _, sum := range e.sums {
		sum.Write(part)
	}
	err := error(nil)
	switch {
	case e.DType == "I32":
		err = e.inspectIndices(part)
	case s.count == 0 && e != s.entries[0]: // a head, which equals the embedding
	default:
		err = e.inspect(part, stored)
	}
	if err == nil {
		e.checked += len(part)
	}
	return err
}

// inspect makes sure that numbers are finite, also those that they are cast to.
func (e *entry) inspect(part, stored []byte) error {
	s := e.slot
	if i := notFinite(part, s.from); i >= 0 {
		return e.notFinite(i, part)
	}
	if !s.casts() {
		return nil
	}
	stored = stored[:len(part)/e.unit*s.to.RowBytes(1)]
	cast(stored, s.to, part, s.from)
	if i := notFinite(stored, s.to); i >= 0 {
		return fmt.Errorf("%w: %s is %g, which %s cannot hold", ErrNotFinite,
			place(e.Name, e.Shape, e.checked/e.unit+i), number(part[i*e.unit:], s.from), s.to)
	}
	return nil
}

func (e *entry) notFinite(i int, part []byte) error {
	x := number(part[i*e.unit:], e.slot.from)
	what := fmt.Sprint(x)
	if math.IsNaN(float64(x)) {
		what = "NaN"
	}
	return fmt.Errorf("%w: %s is %s", ErrNotFinite, place(e.Name, e.Shape, e.checked/e.unit+i), what)
}

// inspectIndices makes sure that indices ascend and lie within the tensor.
func (e *entry) inspectIndices(part []byte) error {
	limit := e.slot.parts[0].Elements()
	last := int32(-1)
	if e.checked > 0 {
		last = index(e.slot.raw[e.checked-indexBytes:])
	}
	for at := 0; at < len(part); at += indexBytes {
		i := index(part[at:])
		if i <= last || int(i) >= limit {
			return fmt.Errorf("%w: %s has %d after %d, want ascending ones below %d", ErrIndex,
				place(e.Name, e.Shape, (e.checked+at)/indexBytes), i, last, limit)
		}
		last = i
	}
	return nil
}

func index(b []byte) int32 { return int32(binary.LittleEndian.Uint32(b)) }

// verify compares the digest of an entry that is there, and gives the one of a kind.
func (e *entry) verify(kind DigestKind) (Digest, error) {
	var wanted Digest
	for _, s := range e.sums {
		d := s.Digest()
		if s.kind == e.Digest.Kind && d != e.Digest {
			return wanted, fmt.Errorf("%w: %s has %s, the manifest says %s", ErrDigest, e.Name, d, e.Digest)
		}
		if s.kind == kind {
			wanted = d
		}
	}
	return wanted, nil
}

// sumOf makes sure that there is a sum of a kind.
func (e *entry) sumOf(kind DigestKind) {
	for _, s := range e.sums {
		if s.kind == kind {
			return
		}
	}
	e.sums = append(e.sums, NewHash(kind))
}
