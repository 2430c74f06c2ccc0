package weights

import (
	"fmt"

	"github.com/cbactor/cbactor/model"
)

// Send gives tensors, whole and in order, to put, which is like Update.Put.
type Send func(put func(name, dtype string, shape []int, offset int, data []byte) error) error

// Overwrite is an update in the memory of the set that serves, where there is none
// for two. The tensors are sent twice: Check looks at them, while the old ones serve;
// Write copies them, while nobody computes. There is no way back.
type Overwrite struct {
	store    *Store
	base     *kept
	version  string
	manifest Manifest
	sums     map[string]Digest // of what Check saw; nil: nothing yet
}

// Overwrite begins an update in place, after the checks that Begin makes. Tensors must
// be stored in the type that they have; neither sparse updates, nor a head that is the
// embedding, nor a digest of the result can be sent.
func (s *Store) Overwrite(base, version string, m Manifest) (*Overwrite, error) {
	if err := s.checkVersions(base, version, &m); err != nil {
		return nil, err
	}
	if m.Result.Kind != NoDigest {
		return nil, fmt.Errorf("%w: that of the result cannot be checked in place", ErrDigest)
	}
	o := &Overwrite{store: s, base: s.current, version: version, manifest: m}
	if _, err := o.newPass(); err != nil {
		return nil, err
	}
	return o, nil
}

// Check makes all checks of an update, and takes no memory but a window. Its errors are
// those of Update.Put and Update.Check. It touches neither the store nor what serves, and
// may run on another goroutine than the store's.
func (o *Overwrite) Check(send Send) error {
	p, err := o.newPass()
	if err != nil {
		return err
	}
	if err := send(p.put); err != nil {
		return err
	}
	o.sums, err = p.finish()
	return err
}

// Write copies what Check saw. Nobody may compute with any set meanwhile: ErrBusy where
// Use says that somebody does. ErrVersion means that another set serves than before, or
// that nothing was checked. The retained set is given up. Only when something else is
// sent than Check saw, or it cannot be sent again, Write fails with ErrBroken: what
// serves then has no version, and must not be computed with until all of it was sent
// again.
func (o *Overwrite) Write(send Send) (*Set, error) {
	s := o.store
	if o.sums == nil || s.current != o.base || s.update != nil {
		return nil, fmt.Errorf("%w: %q was not checked over %q, which serves", ErrVersion, o.version, s.current.Version)
	}
	for _, k := range s.sets {
		if k.users > 0 {
			return nil, fmt.Errorf("%w: the set %q of epoch %d is in use", ErrBusy, k.Version, k.Epoch)
		}
	}
	p, err := o.newPass()
	if err != nil {
		return nil, err
	}
	p.write = true
	if err = send(p.put); err == nil {
		err = p.compare(o.sums)
	}
	set := &Set{Version: o.version, tensors: s.current.tensors}
	if err != nil {
		set.Version, err = "", fmt.Errorf("%w, send it again: %w", ErrBroken, err)
	}
	s.serve(set)
	s.Forget()
	return set, err
}

// pass is one of the two times that tensors are sent.
type pass struct {
	plan     *planner
	manifest Manifest
	live     *Set
	scratch  []byte // what a window is cast to
	write    bool
}

// passKind is the digest that tells whether the second pass brought what the first did.
const passKind = XXH3_128

// newPass plans a pass. It looks at the types of the base alone, not at its bytes.
func (o *Overwrite) newPass() (*pass, error) {
	m := &o.manifest
	p, err := plan(o.store.cfg, o.store.opt.Storage, o.base.Set, m)
	if err != nil {
		return nil, err
	}
	for _, slot := range p.slots {
		if slot.count > 0 || len(slot.entries) > 1 {
			return nil, fmt.Errorf("%w: %s cannot be sent in place; send each tensor whole, and no tied head", ErrDType, slot.entries[len(slot.entries)-1].Name)
		}
		for _, t := range slot.parts {
			if live, _ := o.base.Tensor(t.Name); live.DType != t.DType {
				return nil, fmt.Errorf("%w: %s would be %s, and is %s; in place it must be the same", ErrDType, t.Name, t.DType, live.DType)
			}
		}
	}
	for _, e := range p.order {
		e.sumOf(passKind)
		if m.Digest.Kind != NoDigest {
			e.sumOf(m.Digest.Kind)
		}
	}
	return &pass{plan: p, manifest: *m, live: o.base.Set, scratch: make([]byte, 2*window)}, nil
}

func (p *pass) put(name, dtype string, shape []int, offset int, data []byte) error {
	e, ok := p.plan.entries[name]
	if !ok {
		return fmt.Errorf("%w: %.80q is not in the manifest", ErrUnknown, name)
	}
	if err := e.accepts(dtype, shape, offset, len(data)); err != nil {
		return err
	}
	if offset != e.checked {
		return fmt.Errorf("%w: %s at %d, but %d comes next; send it in order", ErrChunk, e.Name, offset, e.checked)
	}
	for len(data) > 0 {
		part := data[:min(window, len(data))]
		data = data[len(part):]
		at, stored := e.checked/e.unit*e.slot.to.RowBytes(1), part
		if e.slot.casts() {
			stored = p.scratch[:len(part)/e.unit*e.slot.to.RowBytes(1)]
		}
		if err := e.check(part, stored); err != nil {
			return err
		}
		if p.write {
			scatter(p.live, e.slot.parts, at, stored)
		}
	}
	return nil
}

// scatter writes the bytes from at on of tensors that follow each other.
func scatter(live *Set, parts []model.Tensor, at int, data []byte) {
	for _, t := range parts {
		to, _ := live.Tensor(t.Name)
		if at >= len(to.Data) {
			at -= len(to.Data)
			continue
		}
		data = data[copy(to.Data[at:], data):]
		at = 0
		if len(data) == 0 {
			return
		}
	}
}

// finish checks that everything came, and gives the sums of all tensors.
func (p *pass) finish() (map[string]Digest, error) {
	sums, whole := map[string]Digest{}, map[string]Digest{}
	for _, e := range p.plan.order {
		if e.checked < e.size {
			return nil, fmt.Errorf("%w: %d bytes of %s from %d on", ErrMissing, e.size-e.checked, e.Name, e.checked)
		}
		var err error
		if whole[e.Name], err = e.verify(p.manifest.Digest.Kind); err != nil {
			return nil, err
		}
		if sums[e.Name], err = e.verify(passKind); err != nil {
			return nil, err
		}
	}
	return sums, checkSent(p.manifest.Digest, whole)
}

// compare checks that the second pass brought what the first did.
func (p *pass) compare(first map[string]Digest) error {
	sums, err := p.finish()
	if err != nil {
		return err
	}
	for name, sum := range sums {
		if sum != first[name] {
			return fmt.Errorf("%w: %s changed while it was sent", ErrDigest, name)
		}
	}
	return nil
}
