package weights

import (
	"bytes"

	"github.com/cbactor/cbactor/model"
)

// slot is a piece of new memory and what is sent into it: one entry, the two of a
// sparse update, or an embedding and the head that must equal it.
type slot struct {
	entries  []*entry
	parts    []model.Tensor // what the memory will hold, one after the other
	from, to model.DType    // as sent and as stored
	count    int            // numbers that a sparse update changes; 0: the tensor is sent whole
	block    *block
	raw      []byte // as sent; the block's memory where nothing is left to be done with it
	rawBytes int
	written  ranges // of raw
	done     bool   // the block holds what the set will have
}

// direct tells whether what is sent is what is stored.
func (s *slot) direct() bool { return s.count == 0 && s.from == s.to }

// casts tells whether what is sent is stored in another type.
func (s *slot) casts() bool { return s.count == 0 && s.from != s.to }

// differs is the first place in raw where data, which belongs at lo, is not what
// has arrived before; -1: nowhere.
func (s *slot) differs(lo int, data []byte) int {
	at := -1
	s.written.overlaps(span{lo, lo + len(data)}, func(o span) bool {
		old, now := s.raw[o.lo:o.hi], data[o.lo-lo:o.hi-lo]
		if !bytes.Equal(old, now) {
			at = o.lo + firstDifference(old, now)
		}
		return at < 0
	})
	return at
}

func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

// differsCast is differs once raw is gone: what matters is what would be stored.
func (s *slot) differsCast(lo int, data []byte) int {
	var stored [4 * castBlock]byte
	from, to := s.from.RowBytes(1), s.to.RowBytes(1)
	for at := 0; at < len(data); at += castBlock * from {
		part := data[at:min(at+castBlock*from, len(data))]
		n := len(part) / from
		cast(stored[:], s.to, part, s.from)
		old := s.block.data[(lo+at)/from*to:][:n*to]
		if !bytes.Equal(old, stored[:n*to]) {
			return lo + at + firstDifference(old, stored[:])/to*from
		}
	}
	return -1
}

// full tells whether every entry has arrived and passed its checks.
func (s *slot) full() bool {
	for _, e := range s.entries {
		if e.checked < e.size {
			return false
		}
	}
	return true
}

// cut adds the tensors that lie in the slot's memory.
func (s *slot) cut(into map[string]held) {
	data := s.block.data
	for _, t := range s.parts {
		n := t.Bytes()
		into[t.Name] = held{Tensor{Tensor: t, Data: data[:n:n]}, s.block}
		data = data[n:]
	}
}
