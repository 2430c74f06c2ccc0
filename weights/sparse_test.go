package weights

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/cbactor/cbactor/model"
	"pgregory.net/rapid"
)

// patch is a sparse update of one tensor.
func patch(name string, indices []int32, values []byte) *sent {
	s := &sent{data: map[string][]byte{}}
	s.Partial = true
	var at []byte
	for _, i := range indices {
		at = binary.LittleEndian.AppendUint32(at, uint32(i))
	}
	s.add(name+".indices", "I32", []int{len(indices)}, at)
	s.add(name+".values", "BF16", []int{len(indices)}, values)
	return s
}

// A sparse update, in chunks of any order, gives the base with the new numbers.
func TestSparseUpdate(t *testing.T) {
	base := trained(model.BF16, 1)
	rapid.Check(t, func(t *rapid.T) {
		store := twinStore(model.Invalid)
		baseUpdate, err := store.Begin("v1", "base", base.Manifest)
		if err != nil {
			t.Fatal(err)
		}
		if err := base.send(baseUpdate); err != nil {
			t.Fatal(err)
		}
		if _, err := baseUpdate.Commit(); err != nil {
			t.Fatal(err)
		}
		chosen := rapid.SliceOfNDistinct(rapid.Int32Range(0, 32*64-1), 1, 200, rapid.ID[int32]).Draw(t, "indices")
		want := bytes.Clone(base.data[up])
		fresh := numbers(model.BF16, 32*64, rapid.Uint64().Draw(t, "seed"))
		indices, values := []int32{}, []byte{}
		for i := range int32(32 * 64) {
			for _, c := range chosen {
				if c == i {
					indices, values = append(indices, i), append(values, fresh[2*i:2*i+2]...)
					copy(want[2*i:], fresh[2*i:2*i+2])
				}
			}
		}
		s := patch(up, indices, values)
		s.digests(SHA256)
		u, err := store.Begin("base", "v3", s.Manifest)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			for _, e := range s.Tensors {
				cut := rapid.IntRange(0, len(indices)).Draw(t, "cut") * (len(s.data[e.Name]) / len(indices))
				if err := u.Put(e.Name, e.DType, e.Shape, cut, s.data[e.Name][cut:]); err != nil {
					t.Fatal(err)
				}
				if err := u.Put(e.Name, e.DType, e.Shape, 0, s.data[e.Name][:cut]); err != nil {
					t.Fatal(err)
				}
			}
		}
		set, err := u.Commit()
		if err != nil {
			t.Fatal(err)
		}
		for tensor := range set.All() {
			if tensor.Name == up && !bytes.Equal(tensor.Data, want) || tensor.Name != up && !bytes.Equal(tensor.Data, base.data[tensor.Name]) {
				t.Fatalf("%s is wrong", tensor.Name)
			}
		}
	})
}

// The digest of the result tells that the base is not the sender's.
func TestSparseResult(t *testing.T) {
	store := serving(t, model.BF16, Options{})
	base := trained(model.BF16, 1).commit(t, store, "", "v2")
	s := patch(up, []int32{7}, []byte{0x80, 0x3f})
	tensors := map[string]held{}
	for tensor := range base.All() {
		tensor.Data = bytes.Clone(tensor.Data)
		tensors[tensor.Name] = held{tensor, &block{}}
	}
	copy(tensors[up].Data[14:], []byte{0x80, 0x3f})
	s.Result = (&Set{tensors: tensors}).Digest(SHA256)
	if set := s.commit(t, store, "v2", "v3"); set.Digest(SHA256) != s.Result {
		t.Error("another result")
	}
	trained(model.BF16, 2).commit(t, store, "", "v4")
	u, err := store.Begin("v4", "v5", s.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.send(u); err != nil {
		t.Fatal(err)
	}
	if err := u.Check(); !errors.Is(err, ErrDigest) {
		t.Errorf("over another base: got %v", err)
	}
}

// Indices ascend from one chunk to the next, too.
func TestSparseIndicesInChunks(t *testing.T) {
	store, s := serving(t, model.BF16, Options{}), patch(up, []int32{5, 4}, make([]byte, 4))
	u, err := store.Begin("v1", "v2", s.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	name := up + ".indices"
	if err := u.Put(name, "I32", []int{2}, 0, s.data[name][:4]); err != nil {
		t.Fatal(err)
	}
	if err := u.Put(name, "I32", []int{2}, 4, s.data[name][4:]); !errors.Is(err, ErrIndex) {
		t.Errorf("got %v", err)
	}
}

func TestSparseRefuses(t *testing.T) {
	one := []byte{0x80, 0x3f}
	two := append(one, one...)
	for _, test := range []struct {
		what string
		kind error
		s    *sent
		do   func(*sent)
	}{
		{"descending", ErrIndex, patch(up, []int32{5, 4}, two), nil},
		{"one index twice", ErrIndex, patch(up, []int32{5, 5}, two), nil},
		{"behind the end", ErrIndex, patch(up, []int32{0, 32 * 64}, two), nil},
		{"negative", ErrIndex, patch(up, []int32{-1, 4}, two), nil},
		{"NaN", ErrNotFinite, patch(up, []int32{1}, []byte{0xc0, 0x7f}), nil},
		{"nothing", ErrShape, patch(up, nil, nil), nil},
		{"more than there are", ErrShape, patch(up, []int32{0}, one), func(s *sent) { s.entry(up + ".indices").Shape = []int{2049} }},
		{"not a list", ErrShape, patch(up, []int32{0}, one), func(s *sent) { s.entry(up + ".indices").Shape = []int{1, 1} }},
		{"of two lengths", ErrShape, patch(up, []int32{0, 1}, two), func(s *sent) { s.entry(up + ".values").Shape = []int{1} }},
		{"no indices", ErrMissing, patch(up, []int32{0}, one), func(s *sent) { s.remove(up + ".indices") }},
		{"no values", ErrMissing, patch(up, []int32{0}, one), func(s *sent) { s.remove(up + ".values") }},
		{"64-bit indices", ErrDType, patch(up, []int32{0}, one), func(s *sent) { s.entry(up + ".indices").DType = "I64" }},
		{"values of integers", ErrDType, patch(up, []int32{0}, one), func(s *sent) { s.entry(up + ".values").DType = "I32" }},
		{"another type than the base", ErrDType, patch(up, []int32{0}, one), func(s *sent) { s.entry(up + ".values").DType = "F16" }},
		{"unknown", ErrUnknown, patch("x", []int32{0}, one), nil},
		{"whole, too", ErrTwice, patch(up, []int32{0}, one), func(s *sent) { s.add(up, "BF16", []int{32, 64}, numbers(model.BF16, 2048, 1)) }},
		{"no base", ErrVersion, patch(up, []int32{0}, one), func(s *sent) { s.Partial = false }},
	} {
		store := serving(t, model.BF16, Options{})
		base := "v1"
		if test.do != nil {
			test.do(test.s)
		}
		if test.kind == ErrVersion {
			base = ""
		}
		u, err := store.Begin(base, "v2", test.s.Manifest)
		if err == nil {
			err = test.s.send(u)
			u.Abort()
		}
		if !errors.Is(err, test.kind) {
			t.Errorf("%s: got %v, want %v", test.what, err, test.kind)
		}
	}
	q4 := serving(t, model.Q4_1, Options{})
	if _, err := q4.Begin("v1", "v2", patch(up, []int32{0}, one).Manifest); !errors.Is(err, ErrDType) {
		t.Errorf("over blocks: got %v", err)
	}
}
