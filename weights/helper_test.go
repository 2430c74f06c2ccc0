package weights

import (
	"math/rand/v2"
	"testing"

	"github.com/cbactor/cbactor/model"
)

// sent is what a trainer has: the tensors of a manifest and their bytes.
type sent struct {
	Manifest
	data map[string][]byte
}

// trained is a full update of the tiny model, all tensors in one type.
func trained(t model.DType, seed uint64) *sent {
	s := &sent{data: map[string][]byte{}}
	for _, tensor := range tinyConfig().Tensors() {
		tensor.DType = t
		s.add(tensor.Name, t.String(), tensor.Shape, numbers(t, tensor.Elements(), seed+uint64(len(s.data))))
	}
	return s
}

func (s *sent) add(name, dtype string, shape []int, data []byte) {
	s.Tensors = append(s.Tensors, Entry{Name: name, DType: dtype, Shape: shape})
	s.data[name] = data
}

// entry is the entry of a name, to be changed.
func (s *sent) entry(name string) *Entry {
	for i := range s.Tensors {
		if s.Tensors[i].Name == name {
			return &s.Tensors[i]
		}
	}
	return nil
}

func (s *sent) remove(name string) {
	for i, e := range s.Tensors {
		if e.Name == name {
			s.Tensors = append(s.Tensors[:i:i], s.Tensors[i+1:]...)
			return
		}
	}
}

// digests gives every tensor, and the whole, a digest.
func (s *sent) digests(kind DigestKind) {
	sums := map[string]Digest{}
	for i := range s.Tensors {
		e := &s.Tensors[i]
		e.Digest = Sum(kind, s.data[e.Name])
		sums[e.Name] = e.Digest
	}
	s.Digest = WholeDigest(kind, sums)
}

// send puts every tensor, whole.
func (s *sent) send(u *Update) error {
	for _, e := range s.Tensors {
		if err := u.Put(e.Name, e.DType, e.Shape, 0, s.data[e.Name]); err != nil {
			return err
		}
	}
	return nil
}

// numbers are finite numbers of a type between -1 and 1.
func numbers(t model.DType, n int, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 7))
	wide := make([]float32, n)
	for i := range wide {
		wide[i] = 2*random.Float32() - 1
	}
	data := make([]byte, t.RowBytes(n))
	narrow(data, wide, t)
	return data
}

// serving is a store of the tiny model that serves version "v1", stored as t.
func serving(t testing.TB, kind model.DType, opt Options) *Store {
	t.Helper()
	first, err := Load(tinyConfig(), source(tinyConfig(), kind), 1, "v1")
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewStore(tinyConfig(), first, opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// commit sends an update whole and commits it.
func (s *sent) commit(t testing.TB, store *Store, base, version string) *Set {
	t.Helper()
	u, err := store.Begin(base, version, s.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.send(u); err != nil {
		t.Fatal(err)
	}
	set, err := u.Commit()
	if err != nil {
		t.Fatal(err)
	}
	return set
}
