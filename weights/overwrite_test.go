package weights

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cbactor/cbactor/model"
)

type putter = func(name, dtype string, shape []int, offset int, data []byte) error

// pieces sends every tensor in order, a few bytes at a time; before each time, change.
func (s *sent) pieces(change func(time int)) func(putter) error {
	time := 0
	return func(put putter) error {
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
	if err := o.Check(send); err != nil {
		return nil, err
	}
	return o.Write(send)
}

func TestOverwrite(t *testing.T) {
	for _, from := range floats {
		store := serving(t, model.BF16, Options{Storage: model.BF16})
		trained(model.BF16, 9).commit(t, store, "", "v2")
		s := trained(from, 1)
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
		{"another type", ErrDType, func(_ *Store, s *sent) { *s = *trained(model.F32, 1) }},
		{"sparse", ErrDType, func(_ *Store, s *sent) { *s = *patch(up, []int32{1}, []byte{0, 0}) }},
		{"tied head", ErrDType, func(_ *Store, s *sent) { s.add(head, "BF16", []int{8, 64}, s.data[embedding]) }},
		{"in use", ErrBusy, func(store *Store, _ *sent) {
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
	_, err := overwrite(store, "v1", "v2", s.Manifest, func(put putter) error {
		return put(up, "BF16", []int{32, 64}, 2, s.data[up][2:])
	})
	if !errors.Is(err, ErrChunk) {
		t.Errorf("not in order: got %v", err)
	}
	o, err := store.Overwrite("v1", "v2", s.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Write(s.pieces(nothing)); !errors.Is(err, ErrVersion) {
		t.Errorf("not checked: got %v", err)
	}
	if err := o.Check(s.pieces(nothing)); err != nil {
		t.Fatal(err)
	}
	trained(model.BF16, 2).commit(t, store, "v1", "other")
	if _, err := o.Write(s.pieces(nothing)); !errors.Is(err, ErrVersion) || store.Retained() != "v1" {
		t.Errorf("over another set: got %v", err)
	}
}

// What is not the same the second time leaves no version, until all is sent again.
func TestOverwriteBroken(t *testing.T) {
	store, s := serving(t, model.BF16, Options{}), trained(model.BF16, 1)
	_, err := overwrite(store, "v1", "v2", s.Manifest, s.pieces(func(time int) {
		if time == 2 {
			s.data[up][0] ^= 1
		}
	}))
	if !errors.Is(err, ErrBroken) || !errors.Is(err, ErrDigest) || store.Current().Version != "" || store.Current().Epoch != 2 {
		t.Fatalf("got %v, serving %q", err, store.Current().Version)
	}
	part := patch(up, []int32{1}, []byte{0, 0})
	if _, err := store.Begin("v1", "v3", part.Manifest); !errors.Is(err, ErrVersion) {
		t.Errorf("over what is broken: got %v", err)
	}
	if _, err := overwrite(store, "", "v3", s.Manifest, s.pieces(nothing)); err != nil || store.Current().Version != "v3" {
		t.Errorf("sent again: %v", err)
	}
}
