package weights

import "fmt"

// Put takes bytes of a tensor, as Update.Put does.
type Put = func(name, dtype string, shape []int, offset int, data []byte) error

// Send gives tensors, whole and in order, to put.
type Send func(put Put) error

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

// Overwrite opens an update in place, after the checks that Begin makes; there is one
// update at a time. Tensors are cast to the type that they are stored in. Neither sparse
// updates nor a digest of the result can be sent.
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
	s.over = o
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
	p.scratch = make([]byte, 2*window)
	for _, e := range p.plan.order {
		if kind := o.manifest.Digest.Kind; kind != NoDigest {
			e.sumOf(kind)
		}
		e.sumOf(passKind)
	}
	if err := send(p.put); err != nil {
		return err
	}
	o.sums, err = p.finish(o.manifest.Digest)
	return err
}

// Write copies what Check saw, and ends the update. Nobody may compute with any set
// meanwhile: ErrInUse where Use says that somebody does. ErrVersion means that another set
// serves than before, or that nothing was checked. The retained set is given up.
//
// An error of send that comes before any byte was copied changes nothing. Only when
// something else is sent than Check saw, or not all of it again, Write fails with
// ErrBroken: what serves then has no version, and must not be computed with until a
// complete update has come.
func (o *Overwrite) Write(send Send) (*Set, error) {
	s := o.store
	if o.sums == nil || s.current != o.base || s.over != o {
		return nil, fmt.Errorf("%w: %q was not checked over %q, which serves", ErrVersion, o.version, s.current.Version)
	}
	for _, k := range s.sets {
		if k.users > 0 {
			return nil, fmt.Errorf("%w: %q of epoch %d", ErrInUse, k.Version, k.Epoch)
		}
	}
	p, err := o.newPass()
	if err != nil {
		return nil, err
	}
	for _, e := range p.plan.order { // what is the same bytes has passed all checks
		e.sums = []*Hash{NewHash(passKind)}
	}
	if err = send(p.put); err == nil {
		err = p.compare(o.sums)
	}
	if err != nil && !p.wrote {
		return nil, err
	}
	set := &Set{Version: o.version, tensors: s.current.tensors}
	if err != nil {
		set.Version, err = "", fmt.Errorf("%w: send a complete update: %w", ErrBroken, err)
	}
	o.Abort()
	s.serve(set)
	s.Forget()
	s.current.broken = err != nil
	return set, err
}

// Abort gives up an update that was not written. After Write it does nothing.
func (o *Overwrite) Abort() {
	if o.store.over == o {
		o.store.over = nil
	}
}
