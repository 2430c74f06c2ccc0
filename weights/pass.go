package weights

import (
	"fmt"

	"github.com/cbactor/cbactor/model"
)

// pass is one of the two times that the tensors of an Overwrite are sent: with scratch
// the one that checks, else the one that writes.
type pass struct {
	plan    *planner
	live    *Set
	scratch []byte // what a window is cast to
	wrote   bool
}

// passKind is the digest that tells whether the second pass brought what the first did,
// and a tied head what the embedding is.
const passKind = XXH3_128

// newPass plans a pass. It looks at the types of the base alone, not at its bytes.
func (o *Overwrite) newPass() (*pass, error) {
	p, err := plan(o.store.cfg, model.Invalid, true, o.base.Set, &o.manifest)
	if err != nil {
		return nil, err
	}
	return &pass{plan: p, live: o.base.Set}, nil
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
		if p.scratch == nil {
			p.write(e, part)
			continue
		}
		if err := e.check(part, p.scratch); err != nil {
			return err
		}
	}
	return nil
}

// write copies the next bytes of an entry, cast, to the tensors that they belong to. A head
// that is the embedding is written into its place.
func (p *pass) write(e *entry, part []byte) {
	s := e.slot
	for _, sum := range e.sums {
		sum.Write(part)
	}
	width := s.to.RowBytes(1)
	at := e.checked / e.unit * width
	e.checked += len(part)
	p.wrote = true
	for _, t := range s.parts {
		to, _ := p.live.Tensor(t.Name)
		if at >= len(to.Data) {
			at -= len(to.Data)
			continue
		}
		n := min(len(part), (len(to.Data)-at)/width*e.unit)
		if s.casts() {
			cast(to.Data[at:], s.to, part[:n], s.from)
		} else {
			copy(to.Data[at:], part[:n])
		}
		if part = part[n:]; len(part) == 0 {
			return
		}
		at = 0
	}
}

// finish checks that everything came, with the digest of the whole, and gives the sums of
// all tensors.
func (p *pass) finish(want Digest) (map[string]Digest, error) {
	sums, whole := map[string]Digest{}, map[string]Digest{}
	for _, e := range p.plan.order {
		if e.checked < e.size {
			return nil, fmt.Errorf("%w: %d bytes of %s from %d on", ErrMissing, e.size-e.checked, e.Name, e.checked)
		}
		var err error
		if whole[e.Name], err = e.verify(want.Kind); err != nil {
			return nil, err
		}
		if sums[e.Name], err = e.verify(passKind); err != nil {
			return nil, err
		}
	}
	for _, s := range p.plan.slots {
		for _, e := range s.entries[1:] {
			if first := s.entries[0]; sums[e.Name] != sums[first.Name] {
				return nil, fmt.Errorf("%w: %s is not %s", ErrTied, e.Name, first.Name)
			}
		}
	}
	return sums, checkSent(want, whole)
}

// compare checks that the second pass brought what the first did.
func (p *pass) compare(first map[string]Digest) error {
	sums, err := p.finish(Digest{})
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
