package weights

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/model"
	"pgregory.net/rapid"
)

// keeper drives a store at random, and knows which sets must be what they were.
type keeper struct {
	*Store
	limit int
	next  int // number of the next version
	used  map[uint32]int
	sums  map[uint32]Digest // of each set when it was new
}

// Whatever is begun, sent, committed, aborted, rolled back, used and forgotten: a set
// that is kept stays what it was, its memory is counted to the byte, and the limit
// holds.
func TestKeptSetsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := &keeper{limit: rapid.IntRange(3, 8).Draw(t, "sets") * size(listOf(tinyConfig(), model.BF16)) / 2, used: map[uint32]int{}, sums: map[uint32]Digest{}}
		k.Store = twinStore(model.Invalid)
		k.opt.Limit = k.limit
		k.note()
		t.Repeat(map[string]func(*rapid.T){
			"update":   k.send,
			"rollback": k.back,
			"use": func(t *rapid.T) {
				epoch := rapid.SampledFrom(k.epochs()).Draw(t, "epoch")
				if _, err := k.Use(epoch); err != nil {
					t.Fatal(err)
				}
				k.used[epoch]++
			},
			"done": func(t *rapid.T) {
				epoch := rapid.SampledFrom(k.epochs()).Draw(t, "epoch")
				if err := k.Done(epoch); (err == nil) != (k.used[epoch] > 0) {
					t.Fatal(err)
				}
				k.used[epoch] = max(0, k.used[epoch]-1)
			},
			"undo":    k.undo,
			"confirm": func(*rapid.T) { k.Confirm() },
			"forget":  func(*rapid.T) { k.Forget() },
			"trim":    func(*rapid.T) { k.Trim() },
			"":        k.check,
		})
	})
}

func (k *keeper) note() { k.sums[k.Current().Epoch] = k.Current().Digest(XXH3_64) }
func (k *keeper) epochs() []uint32 {
	var out []uint32
	for epoch := range k.sets {
		out = append(out, epoch)
	}
	slices.Sort(out)
	return out
}

// send sends some or all tensors, and ends the update in one of the ways.
func (k *keeper) send(t *rapid.T) {
	k.next++
	s := trained(rapid.SampledFrom(floats).Draw(t, "type"), rapid.Uint64().Draw(t, "seed"))
	if s.Partial = rapid.Bool().Draw(t, "partial"); s.Partial {
		for _, e := range slices.Clone(s.Tensors)[1:] {
			if rapid.IntRange(0, 3).Draw(t, "keep") > 0 {
				s.remove(e.Name)
			}
		}
	}
	retained := k.Retained()
	u, err := k.Begin(k.Current().Version, fmt.Sprint(k.next), s.Manifest)
	if err != nil {
		if !errors.Is(err, ErrMemory) || k.Retained() != retained {
			t.Fatalf("%v, retained %q, was %q", err, k.Retained(), retained)
		}
		return
	}
	if (u.Dropped() != "") != (retained != "" && k.Retained() == "") {
		t.Fatalf("dropped %q, retained %q, was %q", u.Dropped(), k.Retained(), retained)
	}
	k.check(t)
	if err := s.send(u); err != nil {
		t.Fatal(err)
	}
	k.check(t)
	moved := k.retained != nil && rapid.IntRange(0, 3).Draw(t, "roll back meanwhile") == 0
	if moved {
		k.back(t)
		k.Forget()
		k.check(t)
	}
	if rapid.IntRange(0, 3).Draw(t, "abort") == 0 {
		u.Abort()
		return
	}
	set, err := u.Commit()
	if moved && s.Partial && errors.Is(err, ErrVersion) {
		u.Abort()
		return
	}
	if err != nil || moved && s.Partial {
		t.Fatalf("commit: %v", err)
	}
	for _, e := range s.Tensors {
		if got, _ := set.Tensor(e.Name); string(got.Data) != string(s.data[e.Name]) {
			t.Fatalf("%s is not what was sent", e.Name)
		}
	}
	k.note()
}

func (k *keeper) back(t *rapid.T) {
	version, was := k.Retained(), k.retained
	set, err := k.Rollback(version)
	if (err == nil) != (was != nil) {
		t.Fatal(err)
	}
	if err != nil {
		return
	}
	if k.note(); k.sums[set.Epoch] != k.sums[was.Epoch] || set.Epoch == was.Epoch {
		t.Fatalf("version %q is another than it was", version)
	}
}

// undo takes back what has made another set serve, if that can be.
func (k *keeper) undo(t *rapid.T) {
	was, undone := k.before, k.current
	if err := k.Undo(); (err == nil) != (was != nil) {
		t.Fatal(err)
	}
	if was != nil && (k.current != was.current || k.retained != was.retained || k.sets[undone.Epoch] != nil && k.used[undone.Epoch] == 0 && (k.update == nil || k.update.base != undone)) {
		t.Fatalf("epoch %d serves, %q is retained", k.Current().Epoch, k.Retained())
	}
}

// check counts the memory anew, and looks at every set.
func (k *keeper) check(t *rapid.T) {
	blocks := map[*block]int{}
	for epoch, kept := range k.sets {
		if kept.Digest(XXH3_64) != k.sums[epoch] {
			t.Fatalf("the set of epoch %d changed", epoch)
		}
		base := k.update != nil && k.update.base == kept
		if !k.names(kept) && k.used[epoch] == 0 && !base {
			t.Fatalf("nobody keeps the set of epoch %d", epoch)
		}
		for _, b := range kept.blocks() {
			blocks[b]++
		}
	}
	want := 0
	for b, sets := range blocks {
		if want += b.size; b.sets != sets {
			t.Fatalf("a block counts %d sets, there are %d", b.sets, sets)
		}
	}
	if k.update != nil {
		want += k.update.size()
	}
	if taken, idle := k.Memory(); taken != want || taken+idle > k.limit {
		t.Fatalf("%d bytes are taken, should be %d; %d are idle, the limit is %d", taken, want, idle, k.limit)
	}
}

// Memory that is idle is found again by its size, and is not cut.
func TestPool(t *testing.T) {
	var p pool
	a := make([]byte, 1024)
	p.put(a)
	if p.take(512) != nil || p.bytes != 1024 {
		t.Errorf("a piece was cut, %d are idle", p.bytes)
	}
	if b := p.take(1024); len(b) != 1024 || &b[0] != &a[0] || p.bytes != 0 || p.take(1024) != nil {
		t.Errorf("%d bytes, %d idle", len(b), p.bytes)
	}
}
