package weights

import (
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/model"
)

// Options of a Store.
type Options struct {
	// Limit is the most bytes that all sets, and what is staged, may take; 0: no limit.
	Limit int
	// Staging is the most of these for bytes that wait until their tensor can be cast
	// or applied to the base; 0: as much as the manifest needs if tensors come in any order.
	Staging int
	// Storage is what updates are stored in: F32, F16 or BF16; Invalid: as they are sent.
	Storage model.DType
}

// Store keeps the sets of one model: the one that serves, the one before it as
// long as there is memory for it, and those that are still in use.
type Store struct {
	cfg      *model.Config
	opt      Options
	mem      memory
	sets     map[uint32]*kept
	current  *kept
	retained *kept      // nil: none
	before   *served    // what Undo goes back to; nil: nothing
	update   *Update    // that is open
	over     *Overwrite // likewise
	epoch    uint32     // the last that was given
}

// kept is a set and why it is kept.
type kept struct {
	*Set
	users  int
	broken bool // it was overwritten in part
}

// served is what served at a time, and what was retained beside it.
type served struct{ current, retained *kept }

// NewStore makes a store that serves first, a set of the model cfg. It counts
// against the limit. Errors wrap ErrMemory or ErrDType.
func NewStore(cfg *model.Config, first *Set, opt Options) (*Store, error) {
	if !slices.Contains([]model.DType{model.Invalid, model.F32, model.F16, model.BF16}, opt.Storage) {
		return nil, fmt.Errorf("%w: updates cannot be stored as %s, only as F32, F16 or BF16", ErrDType, opt.Storage)
	}
	s := &Store{cfg: cfg, opt: opt, sets: map[uint32]*kept{}, epoch: first.Epoch}
	for _, b := range first.blocks() {
		s.mem.taken += b.size
	}
	if opt.Limit > 0 && s.mem.taken > opt.Limit {
		return nil, fmt.Errorf("%w: the first set has %d bytes, the limit is %d", ErrMemory, s.mem.taken, opt.Limit)
	}
	s.current = s.adopt(first)
	return s, nil
}

// Current is the set that serves: what a batch that is made now computes with.
func (s *Store) Current() *Set { return s.current.Set }

// Retained is the version that Rollback can go back to; "": none.
func (s *Store) Retained() string {
	if s.retained == nil {
		return ""
	}
	return s.retained.Version
}

// Memory is how many bytes sets and an open update take, and how many more are
// kept for the next update. Their sum never exceeds the limit.
func (s *Store) Memory() (taken, idle int) { return s.mem.taken, s.mem.pool.bytes }

// Trim gives up the memory that is kept for the next update.
func (s *Store) Trim() { s.mem.clear() }

// Use keeps a set until as many Done have told that it is not computed with any
// more. ErrVersion means that no such set is kept.
func (s *Store) Use(epoch uint32) (*Set, error) {
	k := s.sets[epoch]
	if k == nil {
		return nil, fmt.Errorf("%w: the set of epoch %d is gone", ErrVersion, epoch)
	}
	k.users++
	return k.Set, nil
}

// Done takes back one Use. The memory of a set that is neither current, retained
// nor used is written again by the next update.
func (s *Store) Done(epoch uint32) error {
	k := s.sets[epoch]
	if k == nil || k.users == 0 {
		return fmt.Errorf("%w: the set of epoch %d is not in use", ErrVersion, epoch)
	}
	k.users--
	s.settle(k)
	return nil
}

// Rollback makes the retained set current again, as a new epoch over the same
// memory. The one that served is retained in its place. ErrVersion means that
// version is not retained. An update that is open over a base cannot be committed
// after it.
func (s *Store) Rollback(version string) (*Set, error) {
	if s.retained == nil || s.retained.Version != version {
		return nil, fmt.Errorf("%w: %q is not kept (serving %q, kept %q)", ErrVersion, version, s.current.Version, s.Retained())
	}
	return s.serve(&Set{Version: version, tensors: s.retained.tensors}), nil
}

// Forget gives up the retained set and returns its version; "": there was none.
func (s *Store) Forget() string {
	s.Confirm()
	version, old := s.Retained(), s.retained
	s.retained = nil
	s.settle(old)
	return version
}

// Undo takes back the last Commit or Rollback: what served before serves again, under
// its own epoch, and what was retained is so again. Nobody may have computed with what it
// takes back, whose epoch never comes again. ErrVersion means that it was confirmed, by
// Confirm, Forget or what came after it.
func (s *Store) Undo() error {
	if s.before == nil {
		return fmt.Errorf("%w: that %q serves cannot be undone any more", ErrVersion, s.current.Version)
	}
	undone := s.current
	s.current, s.retained, s.before = s.before.current, s.before.retained, nil
	s.settle(undone)
	return nil
}

// Confirm gives up what Undo needs.
func (s *Store) Confirm() {
	if was := s.before; was != nil {
		s.before = nil
		s.settle(was.current)
		s.settle(was.retained)
	}
}

// serve makes a set the current one, under the next epoch.
func (s *Store) serve(set *Set) *Set {
	s.Confirm()
	s.before = &served{s.current, s.retained}
	s.epoch++
	set.Epoch = s.epoch
	s.retained, s.current = s.current, s.adopt(set)
	if s.retained.broken {
		s.retained = nil
	}
	return set
}

// adopt keeps a set as a current one.
func (s *Store) adopt(set *Set) *kept {
	for _, b := range set.blocks() {
		b.sets++
	}
	k := &kept{Set: set}
	s.sets[set.Epoch] = k
	return k
}

// names tells that a set serves, is retained, or does so again by Undo.
func (s *Store) names(k *kept) bool {
	b := s.before
	return k == s.current || k == s.retained || b != nil && (k == b.current || k == b.retained)
}

// settle drops a set that nothing keeps; nil is none.
func (s *Store) settle(k *kept) {
	if k == nil || s.names(k) || k.users > 0 {
		return
	}
	delete(s.sets, k.Epoch)
	for _, b := range k.blocks() {
		if b.sets--; b.sets == 0 {
			s.mem.release(b)
		}
	}
}
