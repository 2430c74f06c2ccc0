package weights

import (
	"fmt"
	"iter"
	"maps"
)

// Update is a set on its way: it is staged beside the sets that serve, which it
// touches in no way before Commit.
type Update struct {
	store    *Store
	base     *kept
	version  string
	manifest Manifest
	plan     *planner
	dropped  string
	sums     map[string]Digest // of the entries that are there, where the whole is checked
	set      *Set              // what Check has found good
	fault    error             // what arrived is wrong: nothing mends it
	closed   bool
	staging  staging
}

// Dropped is the version that Begin gave up to have memory for the update, and to
// which there is no way back any more; "": none.
func (u *Update) Dropped() string { return u.dropped }

// Put takes bytes of a tensor of the manifest, from offset on, little-endian and
// row-major, whole numbers. Chunks may come in any order and any number of times,
// as long as they do not contradict. data is the caller's again when Put returns.
//
// A chunk that does not fit the manifest is refused with ErrUnknown, ErrDType,
// ErrShape or ErrChunk, and changes nothing; ErrMemory says that too many tensors
// were begun that must be cast, and that one of them must be finished first. Bytes
// that are wrong end the update, since nobody can say which are right: ErrTwice,
// ErrTied, ErrNotFinite, ErrIndex, ErrDigest. After one of them every Put, Check and
// Commit gives the same error, and only Abort is left.
func (u *Update) Put(name, dtype string, shape []int, offset int, data []byte) error {
	if err := u.Accepts(name, dtype, shape, offset, len(data)); err != nil || len(data) == 0 {
		return err
	}
	e := u.plan.entries[name]
	lo := e.at + offset
	for len(data) > 0 { // what is copied is checked while it is in the cache
		if e.slot.raw == nil && e.slot.done {
			return u.contradiction(e, e.slot.differsCast(lo, data))
		}
		n := min(window, len(data))
		if err := u.write(e, lo, data[:n]); err != nil {
			return err
		}
		lo, data = lo+n, data[n:]
		if u.fault = u.advance(e); u.fault != nil {
			return u.fault
		}
	}
	return nil
}

// Accepts is the error by which Put refuses a chunk of n bytes whatever they are, and
// changes nothing. Who puts a chunk in parts asks for the whole of it before.
func (u *Update) Accepts(name, dtype string, shape []int, offset, n int) error {
	if err := u.usable(); err != nil {
		return err
	}
	e, ok := u.plan.entries[name]
	if !ok {
		return fmt.Errorf("%w: %.80q is not in the manifest", ErrUnknown, name)
	}
	return e.accepts(dtype, shape, offset, n)
}

// write puts a chunk into the slot's memory.
func (u *Update) write(e *entry, lo int, data []byte) error {
	s := e.slot
	if err := u.staging.open(s); err != nil {
		return err
	}
	if err := u.contradiction(e, s.differs(lo, data)); err != nil {
		return err
	}
	part := span{lo, lo + len(data)}
	mine := span{part.lo - e.at, part.hi - e.at}
	if err := e.got.check(mine); err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	if err := s.written.check(part); err != nil {
		return fmt.Errorf("%s: %w", e.Name, err)
	}
	copy(s.raw[lo:], data)
	s.written.add(part)
	e.got.add(mine)
	return nil
}

// contradiction is the error of a chunk that differs at a byte of the slot from
// what arrived before, nil for -1.
func (u *Update) contradiction(e *entry, at int) error {
	if at < 0 {
		return nil
	}
	kind := ErrTwice
	if !e.got.has(at - e.at) { // the other name of a tied tensor was there first
		kind = ErrTied
	}
	u.fault = fmt.Errorf("%w: %s, with other bytes", kind, place(e.Name, e.Shape, (at-e.at)/e.unit))
	return u.fault
}

// advance checks what can be checked, and finishes the slot with its last byte.
func (u *Update) advance(e *entry) error {
	if e.checked == e.size {
		return nil
	}
	if err := e.advance(); err != nil || e.checked < e.size {
		return err
	}
	sum, err := e.verify(u.manifest.Digest.Kind)
	if err != nil {
		return err
	}
	if u.manifest.Digest.Kind != NoDigest {
		u.sums[e.Name] = sum
	}
	if !e.slot.full() {
		return nil
	}
	if e.slot.count > 0 {
		e.slot.apply(u.base.Set)
	}
	e.slot.done = true
	u.staging.close(e.slot)
	return nil
}

func (u *Update) usable() error {
	if u.closed {
		return fmt.Errorf("%w: version %q; begin again", ErrClosed, u.version)
	}
	return u.fault
}

// Gap is a piece of a tensor that has not arrived.
type Gap struct {
	Name          string
	Offset, Bytes int
}

// Missing walks over what has not arrived, in the manifest's order.
func (u *Update) Missing() iter.Seq[Gap] {
	return func(yield func(Gap) bool) {
		for _, e := range u.plan.order {
			at := 0
			for _, s := range append(e.got[:len(e.got):len(e.got)], span{e.size, e.size}) {
				if s.lo > at && !yield(Gap{e.Name, at, s.lo - at}) {
					return
				}
				at = s.hi
			}
		}
	}
}

// Check makes all checks that Commit needs and that take time: whoever sends may
// call it, so that Commit costs next to nothing. Errors wrap ErrMissing, with what
// is missing first and how much there is, after which the rest may be sent; else
// ErrDigest, which ends the update, or one that a Put gave before.
func (u *Update) Check() error {
	if err := u.usable(); err != nil || u.set != nil {
		return err
	}
	if err := u.complete(); err != nil {
		return err
	}
	set := &Set{Version: u.version, tensors: map[string]held{}}
	if u.manifest.Partial {
		set.tensors = maps.Clone(u.base.tensors)
	}
	for _, s := range u.plan.slots {
		s.cut(set.tensors)
	}
	if u.fault = u.checkWhole(set); u.fault != nil {
		return u.fault
	}
	u.set = set
	return nil
}

func (u *Update) complete() error {
	var first Gap
	bytes := 0
	for g := range u.Missing() {
		if bytes == 0 {
			first = g
		}
		bytes += g.Bytes
	}
	if bytes > 0 {
		return fmt.Errorf("%w: %d bytes of %s from %d on, %d bytes in all; send the rest", ErrMissing, first.Bytes, first.Name, first.Offset, bytes)
	}
	return nil
}

func (u *Update) checkWhole(set *Set) error {
	if err := checkSent(u.manifest.Digest, u.sums); err != nil {
		return err
	}
	if want := u.manifest.Result; want.Kind != NoDigest {
		if got := set.Digest(want.Kind); got != want {
			return fmt.Errorf("%w: the new set has %s, the manifest says %s: was the base another?", ErrDigest, got, want)
		}
	}
	return nil
}

// checkSent compares the digest of all tensors with the manifest's.
func checkSent(want Digest, sums map[string]Digest) error {
	if want.Kind == NoDigest {
		return nil
	}
	if got := WholeDigest(want.Kind, sums); got != want {
		return fmt.Errorf("%w: what was sent has %s, the manifest says %s", ErrDigest, got, want)
	}
	return nil
}
