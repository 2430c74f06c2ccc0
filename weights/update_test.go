package weights

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cbactor/cbactor/model"
	"pgregory.net/rapid"
)

var floats = []model.DType{model.F32, model.F16, model.BF16}

// twin is the plain function of the same: an array a tensor, and what was written.
type twin struct {
	data map[string][]byte
	seen map[string][]bool
}

func newTwin(s *sent) *twin {
	w := &twin{map[string][]byte{}, map[string][]bool{}}
	for name, data := range s.data {
		w.data[name], w.seen[name] = make([]byte, len(data)), make([]bool, len(data))
	}
	return w
}

// put tells whether the bytes contradict what was written.
func (w *twin) put(name string, at int, data []byte) (contradicts bool) {
	for i, b := range data {
		if w.seen[name][at+i] && w.data[name][at+i] != b {
			return true
		}
	}
	for i, b := range data {
		w.seen[name][at+i], w.data[name][at+i] = true, b
	}
	return false
}

func (w *twin) missing() (n int) {
	for _, seen := range w.seen {
		for _, s := range seen {
			if !s {
				n++
			}
		}
	}
	return n
}

// Chunks in any order, sent again, overlapping, or contradicting, and an end at any
// time: what is missing is what the twin misses, a contradiction is refused, and a
// commit gives the twin's bytes, cast, or leaves the old set as it was.
func TestUpdateEqualsItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom(floats).Draw(t, "sent")
		to := rapid.SampledFrom(append(floats, model.Invalid)).Draw(t, "stored")
		s := trained(from, rapid.Uint64().Draw(t, "seed"))
		if rapid.Bool().Draw(t, "digests") {
			s.digests(rapid.SampledFrom([]DigestKind{SHA256, XXH3_64, XXH3_128}).Draw(t, "kind"))
		}
		store := twinStore(to)
		before := store.Current().Digest(XXH3_64)
		u, err := store.Begin("v1", "v2", s.Manifest)
		if err != nil {
			t.Fatal(err)
		}
		w := newTwin(s)
		contradicted := putRandomly(t, u, s, w)
		if !contradicted && rapid.Bool().Draw(t, "finish") {
			for g := range u.Missing() {
				if err := u.Put(g.Name, s.entry(g.Name).DType, s.entry(g.Name).Shape, g.Offset, s.data[g.Name][g.Offset:g.Offset+g.Bytes]); err != nil {
					t.Fatal(err)
				}
				w.put(g.Name, g.Offset, s.data[g.Name][g.Offset:g.Offset+g.Bytes])
			}
		}
		set, err := u.Commit()
		if contradicted || w.missing() > 0 {
			if want := map[bool]error{true: ErrTwice, false: ErrMissing}[contradicted]; !errors.Is(err, want) {
				t.Fatalf("commit: got %v, want %v", err, want)
			}
			u.Abort()
			if after := store.Current().Digest(XXH3_64); after != before || store.Current().Epoch != 1 {
				t.Fatalf("a failed update changed what serves")
			}
			return
		}
		if err != nil || set != store.Current() || set.Epoch != 2 || set.Version != "v2" {
			t.Fatalf("commit: got %+v, %v", set, err)
		}
		w.compare(t, set, from, to)
	})
}

// putRandomly sends chunks until one contradicts.
func putRandomly(t *rapid.T, u *Update, s *sent, w *twin) (contradicted bool) {
	for range rapid.IntRange(0, 60).Draw(t, "chunks") {
		e := rapid.SampledFrom(s.Tensors).Draw(t, "tensor")
		unit := map[string]int{"F32": 4, "F16": 2, "BF16": 2}[e.DType]
		all := s.data[e.Name]
		at := rapid.IntRange(0, len(all)/unit).Draw(t, "offset") * unit
		n := rapid.IntRange(0, (len(all)-at)/unit).Draw(t, "count") * unit
		chunk := bytes.Clone(all[at : at+n])
		if n > 0 && rapid.IntRange(0, 30).Draw(t, "spoil") == 0 {
			chunk[rapid.IntRange(0, n/unit-1).Draw(t, "where")*unit+unit-1] ^= 0x80 // another sign, which every type keeps
			if !w.clashes(e.Name, at, chunk) {
				continue // only what can be told apart
			}
		}
		contradicted = w.put(e.Name, at, chunk)
		if err := u.Put(e.Name, e.DType, e.Shape, at, chunk); errors.Is(err, ErrTwice) != contradicted || err != nil && !contradicted {
			t.Fatalf("%s at %d: got %v, contradicted %v", e.Name, at, err, contradicted)
		}
		clear(chunk) // it is the caller's again
		if contradicted {
			return true
		}
		missing := 0
		for g := range u.Missing() {
			missing += g.Bytes
		}
		if missing != w.missing() {
			t.Fatalf("%d bytes are missing, the twin misses %d", missing, w.missing())
		}
	}
	return false
}

func (w *twin) clashes(name string, at int, data []byte) bool {
	for i, b := range data {
		if w.seen[name][at+i] && w.data[name][at+i] != b {
			return true
		}
	}
	return false
}

func (w *twin) compare(t *rapid.T, set *Set, from, to model.DType) {
	if to == model.Invalid {
		to = from
	}
	n := 0
	for tensor := range set.All() {
		n++
		want := make([]byte, tensor.Bytes())
		cast(want, to, w.data[tensor.Name], from)
		if tensor.DType != to || !bytes.Equal(tensor.Data, want) {
			t.Fatalf("%s is not what was sent", tensor.Name)
		}
	}
	if n != len(w.data) {
		t.Fatalf("%d tensors, want %d", n, len(w.data))
	}
}

func twinStore(storage model.DType) *Store {
	c := tinyConfig()
	first, err := Load(c, source(c, model.Q4_1), 1, "v1")
	if err != nil {
		panic(err)
	}
	s, err := NewStore(c, first, Options{Storage: storage})
	if err != nil {
		panic(err)
	}
	return s
}

// Tensors under one fused name are cut from it in its order of rows.
func TestFusedNames(t *testing.T) {
	store, s := serving(t, model.BF16, Options{}), trained(model.BF16, 1)
	fuse := func(whole string, width int, names ...string) {
		var data []byte
		rows := 0
		for _, name := range names {
			data = append(data, s.data[name]...)
			rows += s.entry(name).Shape[0]
			s.remove(name)
		}
		s.add(whole, "BF16", []int{rows, width}, data)
	}
	const l = "model.layers.1."
	fuse(l+"self_attn.qkv_proj.weight", 64, l+"self_attn.q_proj.weight", l+"self_attn.k_proj.weight", l+"self_attn.v_proj.weight")
	fuse(l+"mlp.gate_up_proj.weight", 64, l+"mlp.gate_proj.weight", l+"mlp.up_proj.weight")
	s.digests(SHA256)
	set := s.commit(t, store, "v1", "v2")
	for _, want := range tinyConfig().Tensors() {
		got, _ := set.Tensor(want.Name)
		if !bytes.Equal(got.Data, s.data[want.Name]) || got.DType != model.BF16 || got.Bytes() != len(got.Data) {
			t.Errorf("%s is not the rows that were sent", want.Name)
		}
	}
}

// A head that is the embedding may be sent in any order with it, and must equal it.
func TestTiedHead(t *testing.T) {
	for _, headFirst := range []bool{true, false} {
		for _, equal := range []bool{true, false} {
			store, s := serving(t, model.BF16, Options{Storage: model.F32}), trained(model.BF16, 1)
			data := bytes.Clone(s.data[embedding])
			if !equal {
				data[len(data)-1] ^= 0x80
			}
			s.add(head, "BF16", []int{8, 64}, data)
			if headFirst {
				s.Tensors = append([]Entry{s.Tensors[len(s.Tensors)-1]}, s.Tensors[:len(s.Tensors)-1]...)
			}
			s.digests(XXH3_128)
			u, err := store.Begin("v1", "v2", s.Manifest)
			if err != nil {
				t.Fatal(err)
			}
			err = s.send(u)
			if !equal {
				if !errors.Is(err, ErrTied) {
					t.Errorf("head first %v: got %v, want ErrTied", headFirst, err)
				}
				continue
			}
			set, commitErr := u.Commit()
			if err != nil || commitErr != nil {
				t.Fatalf("head first %v: %v, %v", headFirst, err, commitErr)
			}
			if _, ok := set.Tensor(head); ok {
				t.Error("the set has a head of its own")
			}
		}
	}
}

// What a partial update does not list is the base's own memory.
func TestPartialUpdate(t *testing.T) {
	store := serving(t, model.Q4_1, Options{})
	first := store.Current()
	s := &sent{data: map[string][]byte{}}
	const name = "model.layers.0.mlp.down_proj.weight"
	s.add(name, "BF16", []int{64, 32}, numbers(model.BF16, 64*32, 3))
	s.Partial = true
	set := s.commit(t, store, "v1", "v2")
	for tensor := range set.All() {
		old, _ := first.Tensor(tensor.Name)
		if shares := &old.Data[0] == &tensor.Data[0]; shares != (tensor.Name != name) {
			t.Errorf("%s: shares %v", tensor.Name, shares)
		}
	}
	if got, _ := set.Tensor(name); got.DType != model.BF16 || !bytes.Equal(got.Data, s.data[name]) {
		t.Errorf("%s is %s", name, got.DType)
	}
	taken, _ := store.Memory()
	if whole := size(tinyConfig().Tensors()); taken <= whole {
		t.Errorf("%d bytes are taken", taken)
	}
}
