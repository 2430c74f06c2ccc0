package weights

import (
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/model"
)

// planner turns a manifest into slots. Every size comes from the model, so that
// nothing the manifest claims is larger.
type planner struct {
	storage  model.DType // Invalid: as sent
	inPlace  bool        // the tensors are those of the base, in the types that these have
	base     *Set
	tiedHead bool   // the model's head is its embedding
	tied     *Entry // the head, when it is listed all the same
	wanted   map[string]model.Tensor
	slots    []*slot
	entries  map[string]*entry
	order    []*entry
	given    map[string]*slot // where each tensor of the model will come from
}

// plan checks a manifest against the model and the base.
func plan(cfg *model.Config, storage model.DType, inPlace bool, base *Set, m *Manifest) (*planner, error) {
	p := &planner{
		storage: storage, inPlace: inPlace, base: base, tiedHead: cfg.TiedHead,
		wanted:  map[string]model.Tensor{},
		entries: map[string]*entry{},
		given:   map[string]*slot{},
	}
	wanted := cfg.Tensors()
	for _, t := range wanted {
		p.wanted[t.Name] = t
	}
	for _, e := range m.Tensors {
		if err := p.add(e); err != nil {
			return nil, err
		}
	}
	if p.tied != nil {
		if err := p.addTied(*p.tied); err != nil {
			return nil, err
		}
	}
	if err := p.checkPairs(); err != nil {
		return nil, err
	}
	for _, t := range wanted {
		if p.given[t.Name] == nil && !m.Partial {
			return nil, fmt.Errorf("%w: %s; list it, or send a partial update", ErrMissing, t.Name)
		}
	}
	if len(p.order) == 0 {
		return nil, fmt.Errorf("%w: the manifest lists no tensor", ErrMissing)
	}
	return p, nil
}

func (p *planner) add(e Entry) error {
	isHead := p.tiedHead && e.Name == head
	if p.entries[e.Name] != nil || isHead && p.tied != nil {
		return fmt.Errorf("%w: %.80q in the manifest", ErrTwice, e.Name)
	}
	if target, sparse := sparseTarget(e.Name); sparse {
		return p.addSparse(e, target)
	}
	if isHead { // the embedding must be known before it
		p.tied = &e
		return nil
	}
	return p.addDense(e)
}

// addDense adds a tensor that is sent whole, or several under a fused name.
func (p *planner) addDense(e Entry) error {
	t, err := floatType(e.Name, e.DType)
	if err != nil {
		return err
	}
	s := &slot{from: t, to: t}
	if p.storage != model.Invalid {
		s.to = p.storage
	}
	var shape []int
	names := parts(e.Name)
	if _, own := p.wanted[e.Name]; own {
		names = []string{e.Name}
	}
	for _, name := range names {
		part, ok := p.wanted[name]
		if !ok {
			return fmt.Errorf("%w: %.80q is none of the model's", ErrUnknown, e.Name)
		}
		if p.given[name] != nil {
			return fmt.Errorf("%w: %s, also within %.80q", ErrTwice, name, e.Name)
		}
		p.given[name] = s
		if p.inPlace {
			if s.to, err = p.typeInPlace(s, e.Name, name); err != nil {
				return err
			}
		}
		part = part.As(s.to)
		s.parts = append(s.parts, part)
		if shape == nil {
			shape = slices.Clone(part.Shape)
		} else {
			shape[0] += part.Shape[0]
		}
	}
	if !slices.Equal(shape, e.Shape) {
		return fmt.Errorf("%w: %s is %v, the model has %v", ErrShape, e.Name, few(e.Shape), shape)
	}
	n := model.Tensor{Shape: shape}.Elements()
	s.block = &block{size: aligned(s.to.RowBytes(n))}
	s.rawBytes = t.RowBytes(n)
	p.slots = append(p.slots, s)
	p.put(s, e, 0, s.rawBytes, t.RowBytes(1))
	return nil
}

// typeInPlace is the type that a part of what is sent under a name is stored in, which is
// that of the parts before it.
func (p *planner) typeInPlace(s *slot, sent, part string) (model.DType, error) {
	stored, _ := p.base.Tensor(part)
	t, err := floatType(part, stored.DType.String())
	switch {
	case err != nil:
		return t, fmt.Errorf("%w: %s is stored as %s, which nothing is cast to", ErrDType, part, stored.DType)
	case len(s.parts) > 0 && t != s.to:
		return t, fmt.Errorf("%w: the parts of %s are stored as %s and as %s; send each by its own name", ErrDType, sent, s.to, t)
	}
	return t, nil
}

// addTied adds the head of a model whose head is the embedding: it is sent into
// the same place, where what differs is noticed.
func (p *planner) addTied(e Entry) error {
	with := p.entries[embedding]
	if with == nil {
		return fmt.Errorf("%w: %s is listed without %s, which is the head; leave it out", ErrTied, head, embedding)
	}
	if e.DType != with.DType || !slices.Equal(e.Shape, with.Shape) {
		return fmt.Errorf("%w: %s is %.40q %v, the embedding %s %v", ErrTied, head, e.DType, e.Shape, with.DType, with.Shape)
	}
	p.put(with.slot, e, 0, with.slot.rawBytes, with.unit)
	return nil
}

// addSparse adds one half of a sparse update of a tensor.
func (p *planner) addSparse(e Entry, target string) error {
	t, ok := p.wanted[target]
	switch {
	case !ok:
		return fmt.Errorf("%w: %.80q belongs to no tensor of the model", ErrUnknown, e.Name)
	case p.inPlace:
		return fmt.Errorf("%w: %s cannot be sent in place; send the whole tensor", ErrDType, e.Name)
	}
	if len(e.Shape) != 1 || e.Shape[0] < 1 || e.Shape[0] > t.Elements() {
		return fmt.Errorf("%w: %s is %v, want [n] with n from 1 to %d", ErrShape, e.Name, few(e.Shape), t.Elements())
	}
	s := p.given[target]
	if s == nil {
		stored, _ := p.base.Tensor(target)
		t = t.As(stored.DType)
		n, width := e.Shape[0], stored.DType.RowBytes(stored.DType.Block())
		s = &slot{from: t.DType, to: t.DType, parts: []model.Tensor{t}, count: n,
			block: &block{size: aligned(stored.Bytes())}, rawBytes: n * (indexBytes + width)}
		p.given[target] = s
		p.slots = append(p.slots, s)
	}
	if s.count != e.Shape[0] {
		return fmt.Errorf("%w: %s has %d numbers, and the tensor is also sent in another way or length", ErrShape, e.Name, e.Shape[0])
	}
	if e.Name == target+indicesSuffix {
		if e.DType != "I32" {
			return fmt.Errorf("%w: %s is %.40q, want I32", ErrDType, e.Name, e.DType)
		}
		p.put(s, e, 0, s.count*indexBytes, indexBytes)
		return nil
	}
	if _, err := floatType(e.Name, e.DType); err != nil {
		return err
	}
	if e.DType != s.to.String() {
		return fmt.Errorf("%w: %s is %s, the base stores %s; send the whole tensor", ErrDType, e.Name, e.DType, s.to)
	}
	p.put(s, e, s.count*indexBytes, s.rawBytes-s.count*indexBytes, s.to.RowBytes(1))
	return nil
}

// checkPairs makes sure that no sparse update lacks a half.
func (p *planner) checkPairs() error {
	for _, s := range p.slots {
		if s.count > 0 && len(s.entries) != 2 {
			return fmt.Errorf("%w: %s is listed without its other half (%s and %s)", ErrMissing, s.entries[0].Name, indicesSuffix, valuesSuffix)
		}
	}
	return nil
}

// put adds an entry whose bytes are size from at on in the slot's.
func (p *planner) put(s *slot, e Entry, at, size, unit int) {
	added := &entry{Entry: e, slot: s, at: at, size: size, unit: unit}
	added.Shape = slices.Clone(e.Shape)
	if e.Digest.Kind != NoDigest {
		added.sumOf(e.Digest.Kind)
	}
	s.entries = append(s.entries, added)
	p.entries[e.Name] = added
	p.order = append(p.order, added)
}

// few keeps a message short, whatever the shape that it tells of.
func few(shape []int) []int { return shape[:min(len(shape), 8)] }
