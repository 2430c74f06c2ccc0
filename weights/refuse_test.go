package weights

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/model"
)

const up = "model.layers.1.mlp.up_proj.weight" // [32, 64]

// Each thing that can be wrong is refused by name, wherever it is noticed, and
// leaves what served, its epoch and its memory as they were.
func TestUpdateRefuses(t *testing.T) {
	for _, test := range []struct {
		what  string
		spoil func(*sent)
		kind  error
		says  string
	}{
		{"missing in the manifest", func(s *sent) { s.remove(up) }, ErrMissing, up},
		{"no tensor", func(s *sent) { s.Tensors, s.Partial = nil, true }, ErrMissing, "no tensor"},
		{"unknown", func(s *sent) { s.add("model.extra.weight", "BF16", []int{1}, make([]byte, 2)) }, ErrUnknown, "model.extra.weight"},
		{"frequencies", func(s *sent) { s.add("model.rotary_emb.inv_freq", "F32", []int{1}, make([]byte, 4)) }, ErrUnknown, "inv_freq"},
		{"twice in the manifest", func(s *sent) { s.Tensors = append(s.Tensors, *s.entry(up)) }, ErrTwice, up},
		{"also within a fused one", func(s *sent) {
			s.add("model.layers.1.mlp.gate_up_proj.weight", "BF16", []int{64, 64}, make([]byte, 2*64*64))
		}, ErrTwice, "mlp.gate_proj"},
		{"transposed", func(s *sent) { s.entry(up).Shape = []int{64, 32} }, ErrShape, up},
		{"huge shape", func(s *sent) { s.entry(up).Shape = []int{1 << 40, 1 << 40} }, ErrShape, up},
		{"negative shape", func(s *sent) { s.entry(up).Shape = []int{-32, -64} }, ErrShape, up},
		{"eight bits", func(s *sent) { s.entry(up).DType = "F8_E4M3" }, ErrDType, "F8_E4M3"},
		{"integers", func(s *sent) { s.entry(up).DType = "I32" }, ErrDType, up},
		{"head without its embedding", func(s *sent) {
			s.remove(embedding)
			s.Partial = true
			s.add(head, "BF16", []int{8, 64}, make([]byte, 1024))
		}, ErrTied, head},
		{"head of another type", func(s *sent) { s.add(head, "F32", []int{8, 64}, make([]byte, 2048)) }, ErrTied, head},
		{"head twice", func(s *sent) {
			s.add(head, "BF16", []int{8, 64}, make([]byte, 1024))
			s.add(head, "BF16", []int{8, 64}, make([]byte, 1024))
		}, ErrTwice, head},
		{"half sent", func(s *sent) { s.data[up] = s.data[up][:2000] }, ErrMissing, "2096 bytes of " + up + " from 2000"},
		{"not sent", func(s *sent) { s.data[up] = nil }, ErrMissing, up},
		{"too long", func(s *sent) { s.data[up] = append(s.data[up], 0, 0) }, ErrChunk, up},
		{"half a number", func(s *sent) { s.data[up] = s.data[up][:4095] }, ErrChunk, up},
		{"NaN at the end", func(s *sent) { copy(s.data[up][4094:], []byte{0xc0, 0x7f}) }, ErrNotFinite, up + "[31 63] is NaN"},
		{"infinite in the middle", func(s *sent) { putBF16(s.data[up], 65, math.Inf(-1)) }, ErrNotFinite, up + "[1 1] is -Inf"},
		{"wrong digest", func(s *sent) { s.entry(up).Digest = Sum(SHA256, nil) }, ErrDigest, up},
		{"wrong fast digest", func(s *sent) { s.entry(up).Digest = Sum(XXH3_64, nil) }, ErrDigest, up},
		{"wrong digest of the whole", func(s *sent) { s.Digest = Sum(XXH3_128, nil) }, ErrDigest, "xxh3-128:"},
		{"wrong digest of the result", func(s *sent) { s.Result = Sum(SHA256, nil) }, ErrDigest, "sha256:"},
	} {
		store, s := serving(t, model.BF16, Options{}), trained(model.BF16, 1)
		before := store.Current().Digest(SHA256)
		taken, _ := store.Memory()
		test.spoil(s)
		u, err := store.Begin("v1", "v2", s.Manifest)
		if err == nil {
			err = s.send(u)
			if set, commitErr := u.Commit(); set != nil {
				t.Errorf("%s: committed", test.what)
			} else if err == nil {
				err = commitErr
			}
			u.Abort()
		}
		if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %v with %q", test.what, err, test.kind, test.says)
		}
		now, idle := store.Memory()
		if store.Current().Epoch != 1 || store.Current().Digest(SHA256) != before || now != taken || len(store.sets) != 1 || store.update != nil {
			t.Errorf("%s: left its trace: %d bytes are taken, %d idle", test.what, now, idle)
		}
	}
}

func putBF16(data []byte, i int, x float64) {
	binary.LittleEndian.PutUint16(data[2*i:], model.ToBF16(float32(x)))
}

// A chunk that contradicts the manifest changes nothing, and the update goes on.
func TestPutRefusesChunks(t *testing.T) {
	store, s := serving(t, model.BF16, Options{}), trained(model.BF16, 1)
	u, err := store.Begin("v1", "v2", s.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	data, shape := s.data[up], []int{32, 64}
	for _, test := range []struct {
		what  string
		err   error
		wants error
	}{
		{"unknown", u.Put("x", "BF16", shape, 0, data), ErrUnknown},
		{"type", u.Put(up, "F16", shape, 0, data), ErrDType},
		{"shape", u.Put(up, "BF16", []int{64, 32}, 0, data), ErrShape},
		{"behind the end", u.Put(up, "BF16", shape, 4096, data[:2]), ErrChunk},
		{"before the beginning", u.Put(up, "BF16", shape, -2, data[:2]), ErrChunk},
		{"far behind", u.Put(up, "BF16", shape, math.MaxInt-1, data[:2]), ErrChunk},
		{"between numbers", u.Put(up, "BF16", shape, 1, data[:2]), ErrChunk},
		{"nothing", u.Put(up, "BF16", shape, 4096, nil), nil},
	} {
		if !errors.Is(test.err, test.wants) || test.err != nil && test.wants == nil {
			t.Errorf("%s: got %v, want %v", test.what, test.err, test.wants)
		}
	}
	if err := s.send(u); err != nil {
		t.Fatal(err)
	}
	if _, err := u.Commit(); err != nil {
		t.Error(err)
	}
	if err := s.send(u); !errors.Is(err, ErrClosed) {
		t.Errorf("after the commit: got %v", err)
	}
	if _, err := u.Commit(); !errors.Is(err, ErrClosed) {
		t.Errorf("commit again: got %v", err)
	}
	u.Abort()
	if store.Current().Version != "v2" {
		t.Error("an abort undid a commit")
	}
}

// Numbers that the stored type cannot hold are refused like infinite ones.
func TestCastRefusesWhatIsTooLarge(t *testing.T) {
	store, s := serving(t, model.F16, Options{Storage: model.F16}), trained(model.BF16, 1)
	putBF16(s.data[up], 2047, 70000)
	u, err := store.Begin("v1", "v2", s.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.send(u); !errors.Is(err, ErrNotFinite) || !strings.Contains(err.Error(), up+"[31 63] is 70144, which F16") {
		t.Errorf("got %v", err)
	}
}

// bigEmbedding opens an update of one tensor, sent as F32 of shape [vocab, 64].
func bigEmbedding(t *testing.T, vocab int, opt Options) *Update {
	t.Helper()
	c := tinyConfig()
	c.Vocab = vocab
	store := &Store{cfg: c, opt: opt, sets: map[uint32]*kept{}}
	store.current = store.adopt(&Set{Epoch: 1, Version: "v1", tensors: map[string]held{}})
	u, err := store.Begin("v1", "v2", Manifest{Partial: true, Tensors: []Entry{{Name: embedding, DType: "F32", Shape: []int{vocab, 64}}}})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// A chunk of several windows, of which the first completes a tensor that is cast.
func TestPutCompletesEarly(t *testing.T) {
	const vocab = 3 * window / 256
	data := numbers(model.F32, vocab*64, 1)
	for _, spoil := range []bool{false, true} {
		u := bigEmbedding(t, vocab, Options{Storage: model.BF16})
		if err := u.Put(embedding, "F32", []int{vocab, 64}, 1000, data[1000:]); err != nil {
			t.Fatal(err)
		}
		again := bytes.Clone(data)
		if spoil {
			again[len(again)-1] ^= 0x80
		}
		if err := u.Put(embedding, "F32", []int{vocab, 64}, 0, again); errors.Is(err, ErrTwice) != spoil || err != nil && !spoil {
			t.Errorf("spoiled %v: got %v", spoil, err)
		}
		if u.staging.used != 0 {
			t.Errorf("%d bytes of staging were taken for what is done", u.staging.used)
		}
		if _, err := u.Commit(); (err != nil) != spoil {
			t.Errorf("spoiled %v: got %v", spoil, err)
		}
	}
}

// Crumbs with gaps between them are bounded.
func TestPutBoundsCrumbs(t *testing.T) {
	const vocab = 3 * maxRanges
	u := bigEmbedding(t, vocab, Options{})
	put := func(i int) error { return u.Put(embedding, "F32", []int{vocab, 64}, 8*i, make([]byte, 4)) }
	for i := range maxRanges {
		if err := put(i); err != nil {
			t.Fatal(err)
		}
	}
	if err := put(maxRanges + 1); !errors.Is(err, ErrChunk) {
		t.Errorf("got %v", err)
	}
	if err := put(5); err != nil {
		t.Errorf("the same again: %v", err)
	}
	if err := u.Put(embedding, "F32", []int{vocab, 64}, 4, make([]byte, 4)); err != nil {
		t.Errorf("filling a gap: %v", err)
	}
	if err := put(maxRanges + 1); err != nil {
		t.Errorf("after a gap was filled: %v", err)
	}
}

// What was cast is compared with what is sent again as it would be stored.
func TestPutAgainAfterTheCast(t *testing.T) {
	for _, from := range []model.DType{model.F32, model.F16, model.BF16} {
		store, s := serving(t, model.BF16, Options{Storage: model.BF16}), trained(from, 1)
		u, err := store.Begin("v1", "v2", s.Manifest)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := s.send(u); err != nil {
				t.Fatalf("%s: %v", from, err)
			}
		}
		data, unit := s.data[embedding], from.RowBytes(1)
		data[300*unit-1] ^= 0x80
		err = u.Put(embedding, from.String(), []int{8, 64}, 17*unit, data[17*unit:])
		if !errors.Is(err, ErrTwice) || !strings.Contains(err.Error(), embedding+"[4 43]") {
			t.Errorf("%s: got %v", from, err)
		}
		if _, err := u.Commit(); !errors.Is(err, ErrTwice) {
			t.Errorf("%s: committed: %v", from, err)
		}
	}
}
