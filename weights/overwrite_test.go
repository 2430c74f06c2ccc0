package weights

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cbactor/cbactor/model"
)

// pieces sends every tensor in order, a few bytes at a time; before each time, change.
func (s *sent) pieces(change func(time int)) func(Put) error {
	time := 0
	return func(put Put) error {
		time++
		change(time)
		for _, e := range s.Tensors {
			data := s.data[e.Name]
			for at := 0; at < len(data); at += 1000 {
				if err := put(e.Name, e.DType, e.Shape, at, data[at:min(at+1000, len(data))]); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func nothing(int) {}

// overwrite checks and writes.
func overwrite(store *Store, base, version string, m Manifest, send Send) (*Set, error) {
	o, err := store.Overwrite(base, version, m)
	if err != nil {
		return nil, err
	}
	defer o.Abort()
	if err := o.Check(send); err != nil {
		return nil, err
	}
	return o.Write(send)
}

// What is sent is cast to what is stored, in its place; rows under a fused name, and a
// head that is the embedding, are found.
func TestOverwrite(t *testing.T) {
	for _, from := range floats {
		store := serving(t, model.BF16, Options{})
		trained(model.BF16, 9).commit(t, store, "", "v2")
		s := trained(from, 1)
		s.add(head, from.String(), s.entry(embedding).Shape, s.data[embedding])
		const l = "model.layers.1.mlp."
		fused := append(bytes.Clone(s.data[l+"gate_proj.weight"]), s.data[up]...)
		s.add(l+"gate_up_proj.weight", from.String(), []int{64, 64}, fused)
		s.remove(l + "gate_proj.weight")
		s.remove(up)
		s.digests(SHA256)
		places := map[string]*byte{}
		for tensor := range store.Current().All() {
			places[tensor.Name] = &tensor.Data[0]
		}
		set, err := overwrite(store, "v2", "v3", s.Manifest, s.pieces(nothing))
		if err != nil || set != store.Current() || set.Epoch != 3 || set.Version != "v3" || store.Retained() != "" || len(store.sets) != 1 {
			t.Fatalf("%s: %+v, %v, retained %q", from, set, err, store.Retained())
		}
		for tensor := range set.All() {
			want := make([]byte, len(tensor.Data))
			cast(want, model.BF16, s.data[tensor.Name], from)
			if &tensor.Data[0] != places[tensor.Name] || !bytes.Equal(tensor.Data, want) {
				t.Errorf("%s: %s is not what was sent, in its place", from, tensor.Name)
			}
		}
	}
}

func TestOverwriteRefuses(t *testing.T) {
	for _, test := range []struct {
		what string
		kind error
		do   func(*Store, *sent)
	}{
		{"missing", ErrMissing, func(_ *Store, s *sent) { s.data[up] = s.data[up][:10] }},
		{"NaN", ErrNotFinite, func(_ *Store, s *sent) { copy(s.data[up][4094:], []byte{0xc0, 0x7f}) }},
		{"digest", ErrDigest, func(_ *Store, s *sent) { s.entry(up).Digest = Sum(SHA256, nil) }},
		{"digest of the whole", ErrDigest, func(_ *Store, s *sent) { s.Digest = Sum(SHA256, nil) }},
		{"digest of the result", ErrDigest, func(_ *Store, s *sent) { s.Result = Sum(SHA256, nil) }},
		{"a number that the stored type cannot hold", ErrNotFinite, func(_ *Store, s *sent) {
			s.remove(up)
			s.add(up, "F32", []int{32, 64}, bytes.Repeat([]byte{0xff, 0xff, 0x7f, 0x7f}, 32*64))
		}},
		{"another type", ErrDType, func(_ *Store, s *sent) { s.entry(up).DType = "I8" }},
		{"sparse", ErrDType, func(_ *Store, s *sent) { *s = *patch(up, []int32{1}, []byte{0, 0}) }},
		{"another head than the embedding", ErrTied, func(_ *Store, s *sent) {
			other := bytes.Clone(s.data[embedding])
			other[0] ^= 1
			s.add(head, "BF16", s.entry(embedding).Shape, other)
		}},
		{"in use", ErrInUse, func(store *Store, _ *sent) {
			if _, err := store.Use(1); err != nil {
				t.Fatal(err)
			}
		}},
		{"an update is open", ErrBusy, func(store *Store, s *sent) {
			if _, err := store.Begin("", "x", s.Manifest); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		store, s := serving(t, model.BF16, Options{}), trained(model.BF16, 1)
		before := store.Current().Digest(SHA256)
		test.do(store, s)
		set, err := overwrite(store, "v1", "v2", s.Manifest, s.pieces(nothing))
		if set != nil || !errors.Is(err, test.kind) || errors.Is(err, ErrBroken) || store.Current().Digest(SHA256) != before || store.Current().Epoch != 1 {
			t.Errorf("%s: got %v, want %v", test.what, err, test.kind)
		}
	}
	store, s := serving(t, model.BF16, Options{}), trained(model.BF16, 1)
	_, err := overwrite(store, "v1", "v2", s.Manifest, func(put Put) error {
		return put(up, "BF16", []int{32, 64}, 2, s.data[up][2:])
	})
	if !errors.Is(err, ErrChunk) {
		t.Errorf("not in order: got %v", err)
	}
	trained(model.BF16, 3).commit(t, store, "v1", "v2")
	o, err := store.Overwrite("v2", "v3", s.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Overwrite("v2", "v4", s.Manifest); !errors.Is(err, ErrBusy) {
		t.Errorf("two at a time: got %v", err)
	}
	if _, err := store.Begin("v2", "v4", s.Manifest); !errors.Is(err, ErrBusy) {
		t.Errorf("another update beside: got %v", err)
	}
	if _, err := o.Write(s.pieces(nothing)); !errors.Is(err, ErrVersion) {
		t.Errorf("not checked: got %v", err)
	}
	if err := o.Check(s.pieces(nothing)); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Rollback("v1"); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Write(s.pieces(nothing)); !errors.Is(err, ErrVersion) || store.Retained() != "v2" {
		t.Errorf("over another set: got %v", err)
	}
	o.Abort()
	trained(model.BF16, 2).commit(t, store, "v1", "v4")
}

// What is stored in two types, or quantised, cannot be sent under one name.
func TestOverwriteKeepsTypes(t *testing.T) {
	mixed := source(tinyConfig(), model.BF16)
	const gate = "model.layers.1.mlp.gate_proj.weight"
	for _, c := range []struct {
		stored model.DType
		name   string
	}{{model.F32, "model.layers.1.mlp.gate_up_proj.weight"}, {model.Q8_0, gate}} {
		of := mixed.tensors[gate]
		of.DType = c.stored
		mixed.tensors[gate] = of
		first, err := Load(tinyConfig(), mixed, 1, "v1")
		if err != nil {
			t.Fatal(err)
		}
		store, err := NewStore(tinyConfig(), first, Options{})
		if err != nil {
			t.Fatal(err)
		}
		shape := []int{32, 64}
		if c.name != gate {
			shape[0] *= 2
		}
		m := Manifest{Partial: true, Tensors: []Entry{{Name: c.name, DType: "BF16", Shape: shape}}}
		if _, err := store.Overwrite("v1", "v2", m); !errors.Is(err, ErrDType) {
			t.Errorf("%s stored as %s: %v", gate, c.stored, err)
		}
	}
}
