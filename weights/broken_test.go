package weights

import (
	"errors"
	"testing"

	"github.com/cbactor/cbactor/model"
)

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

// Nor is it kept beside a whole set that comes after it; one that is whole is kept.
func TestBrokenIsNotKept(t *testing.T) {
	store, s := serving(t, model.BF16, Options{}), trained(model.BF16, 1)
	if _, err := overwrite(store, "", "v2", s.Manifest, s.half(2)); !errors.Is(err, ErrBroken) || !errors.Is(err, errHalf) {
		t.Fatal(err)
	}
	s.commit(t, store, "", "v3")
	store.Confirm()
	if store.Retained() != "" || len(store.sets) != 1 {
		t.Errorf("%q is kept, there are %d sets", store.Retained(), len(store.sets))
	}
	trained(model.BF16, 2).commit(t, store, "v3", "v4")
	if store.Retained() != "v3" {
		t.Errorf("%q is kept", store.Retained())
	}
}

// A source that cannot be read again changes nothing, and may be tried again.
func TestOverwriteThatDoesNotBegin(t *testing.T) {
	store, s := serving(t, model.BF16, Options{}), trained(model.BF16, 1)
	before := store.Current().Digest(SHA256)
	o, err := store.Overwrite("v1", "v2", s.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Check(s.pieces(nothing)); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Write(func(Put) error { return errHalf }); !errors.Is(err, errHalf) || errors.Is(err, ErrBroken) || store.Current().Digest(SHA256) != before {
		t.Errorf("got %v", err)
	}
	if set, err := o.Write(s.pieces(nothing)); err != nil || set.Version != "v2" {
		t.Errorf("again: %v", err)
	}
}

var errHalf = errors.New("the sender is gone")

// half sends every tensor in order, but ends in the middle of the given time.
func (s *sent) half(last int) Send {
	time := 0
	return func(put Put) error {
		time++
		for i, e := range s.Tensors {
			if time == last && i == len(s.Tensors)/2 {
				return errHalf
			}
			if err := put(e.Name, e.DType, e.Shape, 0, s.data[e.Name]); err != nil {
				return err
			}
		}
		return nil
	}
}
