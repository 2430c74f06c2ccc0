package weights

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cbactor/cbactor/model"
)

// killed is how many transfers TestKilledTransfers ends in their middle.
var killed = flag.Int("weights.killed", 50, "transfers that end in their middle")

// twoSets is a limit that holds just two sets of the tiny model.
func twoSets(t model.DType) Options {
	list := tinyConfig().Tensors()
	for i := range list {
		list[i].DType = t
	}
	return Options{Limit: 2 * size(list)}
}

func TestRollback(t *testing.T) {
	store := serving(t, model.BF16, twoSets(model.BF16))
	sums := map[string]Digest{"v1": store.Current().Digest(SHA256)}
	set := trained(model.BF16, 1).commit(t, store, "v1", "v2")
	sums["v2"] = set.Digest(SHA256)
	if sums["v1"] == sums["v2"] || store.Retained() != "v1" {
		t.Fatalf("retained %q, digests %v", store.Retained(), sums)
	}
	for i, version := range []string{"v1", "v2", "v1"} {
		set, err := store.Rollback(version)
		if err != nil || set.Epoch != uint32(3+i) || set.Version != version || set != store.Current() || set.Digest(SHA256) != sums[version] {
			t.Fatalf("back to %s: %+v, %v", version, set, err)
		}
	}
	if _, err := store.Rollback("v1"); !errors.Is(err, ErrVersion) {
		t.Errorf("to what serves: got %v", err)
	}
	if v := store.Forget(); v != "v2" || store.Forget() != "" {
		t.Errorf("forgot %q", v)
	}
	if _, err := store.Rollback("v2"); !errors.Is(err, ErrVersion) {
		t.Errorf("to what was forgotten: got %v", err)
	}
	if len(store.sets) != 1 {
		t.Errorf("%d sets are kept", len(store.sets))
	}
}

// What could not compute is as if it had never been, but for its epoch: also what was
// retained, and memory.
func TestUndo(t *testing.T) {
	store := serving(t, model.BF16, Options{})
	trained(model.BF16, 1).commit(t, store, "v1", "v2")
	store.Confirm()
	was, _ := store.Memory()
	if err := store.Undo(); !errors.Is(err, ErrVersion) {
		t.Errorf("what was confirmed: %v", err)
	}
	for _, serve := range []func(){
		func() { trained(model.BF16, 2).commit(t, store, "v2", "v3") },
		func() {
			if _, err := store.Rollback("v1"); err != nil {
				t.Fatal(err)
			}
		},
	} {
		serve()
		if err := store.Undo(); err != nil {
			t.Fatal(err)
		}
		now, _ := store.Memory()
		if set := store.Current(); set.Version != "v2" || set.Epoch != 2 || store.Retained() != "v1" || now != was || len(store.sets) != 2 {
			t.Errorf("%q of epoch %d serves, %q is retained, %d bytes of %d sets are taken", set.Version, set.Epoch, store.Retained(), now, len(store.sets))
		}
	}
	if set := trained(model.BF16, 2).commit(t, store, "v2", "v3"); set.Epoch != 5 {
		t.Errorf("epoch %d comes again", set.Epoch)
	}
}

// Where memory holds two sets, the retained one makes room, and Begin says so; the
// memory is used again, and never exceeds the limit.
func TestTwoSetsInMemory(t *testing.T) {
	opt := twoSets(model.BF16)
	store := serving(t, model.BF16, opt)
	var places map[*byte]bool
	for i := range 6 {
		version := fmt.Sprintf("v%d", i+2)
		s := trained(model.BF16, uint64(i))
		u, err := store.Begin("", version, s.Manifest)
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"", "v1"}[min(i, 1)]; i < 2 && u.Dropped() != want || i > 1 && u.Dropped() != fmt.Sprintf("v%d", i) {
			t.Errorf("%s: dropped %q", version, u.Dropped())
		}
		if err := s.send(u); err != nil {
			t.Fatal(err)
		}
		if _, err := u.Commit(); err != nil {
			t.Fatal(err)
		}
		if taken, idle := store.Memory(); taken+idle > opt.Limit {
			t.Errorf("%s: %d and %d bytes of %d", version, taken, idle, opt.Limit)
		}
		here := map[*byte]bool{}
		for tensor := range store.Current().All() {
			here[&tensor.Data[0]] = true
			if i > 2 && !places[&tensor.Data[0]] {
				t.Errorf("%s: %s has new memory", version, tensor.Name)
			}
		}
		for p := range places {
			here[p] = true
		}
		places = here
	}
}

// A set that somebody computes with is not written, retained or not.
func TestUsedSetsStay(t *testing.T) {
	store := serving(t, model.BF16, twoSets(model.BF16))
	first, err := store.Use(1)
	if err != nil {
		t.Fatal(err)
	}
	sum := first.Digest(XXH3_64)
	trained(model.BF16, 1).commit(t, store, "", "v2")
	s := trained(model.BF16, 2)
	if _, err := store.Begin("", "v3", s.Manifest); !errors.Is(err, ErrMemory) || store.Retained() != "v1" {
		t.Errorf("got %v, retained %q", err, store.Retained())
	}
	store.Forget()
	if _, err := store.Begin("", "v3", s.Manifest); !errors.Is(err, ErrMemory) || first.Digest(XXH3_64) != sum {
		t.Errorf("forgotten and used: got %v", err)
	}
	if err := store.Done(1); err != nil {
		t.Fatal(err)
	}
	if err := store.Done(1); !errors.Is(err, ErrVersion) {
		t.Errorf("done twice: got %v", err)
	}
	if _, err := store.Use(1); !errors.Is(err, ErrVersion) {
		t.Errorf("used when gone: got %v", err)
	}
	s.commit(t, store, "", "v3")
}

func TestBeginRefusesVersions(t *testing.T) {
	store, s := serving(t, model.BF16, Options{}), trained(model.BF16, 1)
	partial := s.Manifest
	partial.Partial = true
	for _, test := range []struct {
		base, version string
		m             Manifest
	}{{"", "", s.Manifest}, {"", "v1", s.Manifest}, {"v0", "v2", s.Manifest}, {"", "v2", partial}} {
		if _, err := store.Begin(test.base, test.version, test.m); !errors.Is(err, ErrVersion) {
			t.Errorf("%q over %q: got %v", test.version, test.base, err)
		}
	}
	u, err := store.Begin("v1", "v2", s.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Begin("v1", "v3", s.Manifest); !errors.Is(err, ErrBusy) {
		t.Errorf("two at once: got %v", err)
	}
	u.Abort()
	if _, err := NewStore(tinyConfig(), store.Current(), Options{Limit: 1000}); !errors.Is(err, ErrMemory) {
		t.Errorf("a limit below the first set: got %v", err)
	}
	if _, err := NewStore(tinyConfig(), store.Current(), Options{Storage: model.Q4_1}); !errors.Is(err, ErrDType) {
		t.Errorf("stored in blocks: got %v", err)
	}
}

// An update over a base that does not serve any more is not committed.
func TestCommitAfterRollback(t *testing.T) {
	store, s := serving(t, model.BF16, Options{}), trained(model.BF16, 1)
	s.commit(t, store, "v1", "v2")
	s = trained(model.BF16, 2)
	s.remove(up)
	s.Partial = true
	u, err := store.Begin("v2", "v3", s.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Rollback("v1"); err != nil {
		t.Fatal(err)
	}
	if err := s.send(u); err != nil {
		t.Fatal(err)
	}
	if _, err := u.Commit(); !errors.Is(err, ErrVersion) || store.Current().Version != "v1" {
		t.Errorf("got %v", err)
	}
	u.Abort()
}

// Staging that is bounded takes one tensor after the other, and says so when too
// many are begun.
func TestStagingIsBounded(t *testing.T) {
	s := trained(model.F32, 1)
	store := serving(t, model.BF16, Options{Storage: model.BF16, Staging: 17 << 10})
	u, err := store.Begin("", "v2", s.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	q, o := "model.layers.0.self_attn.q_proj.weight", "model.layers.0.self_attn.o_proj.weight" // 16 KiB each
	put := func(name string, from, to int) error {
		return u.Put(name, "F32", []int{64, 64}, from, s.data[name][from:to])
	}
	if err := put(q, 0, 100); err != nil {
		t.Fatal(err)
	}
	if err := put(o, 0, 100); !errors.Is(err, ErrMemory) {
		t.Fatalf("two begun: got %v", err)
	}
	if err := put(q, 100, 1<<14); err != nil {
		t.Fatal(err)
	}
	if err := s.send(u); err != nil {
		t.Fatal(err)
	}
	if _, err := u.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := serving(t, model.BF16, Options{Storage: model.BF16, Staging: 16000}).Begin("", "v2", s.Manifest); !errors.Is(err, ErrMemory) {
		t.Errorf("less than the largest tensor: got %v", err)
	}
}

// Transfers that end in their middle leave nothing behind.
func TestKilledTransfers(t *testing.T) {
	opt := twoSets(model.BF16)
	opt.Limit += 1 << 20 // for what is to be cast
	opt.Storage = model.BF16
	store := serving(t, model.BF16, opt)
	sum := store.Current().Digest(SHA256)
	taken, _ := store.Memory()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range *killed {
		s := trained(floats[i%3], uint64(i))
		u, err := store.Begin("v1", "v2", s.Manifest)
		if err != nil {
			t.Fatal(err)
		}
		for range random.IntN(100) {
			e := s.Tensors[random.IntN(len(s.Tensors))]
			data := s.data[e.Name]
			from := random.IntN(len(data)/4) * 4
			if err := u.Put(e.Name, e.DType, e.Shape, from, data[from:from+random.IntN((len(data)-from)/4)*4]); err != nil {
				t.Fatal(err)
			}
		}
		u.Abort()
		now, idle := store.Memory()
		if now != taken || now+idle > opt.Limit || len(store.sets) != 1 || u.plan.slots != nil {
			t.Fatalf("transfer %d: %d bytes are taken, %d idle", i, now, idle)
		}
		if store.Current().Digest(SHA256) != sum || store.Current().Epoch != 1 {
			t.Fatalf("transfer %d changed what serves", i)
		}
	}
	trained(model.F32, 1).commit(t, store, "v1", "v2")
}
