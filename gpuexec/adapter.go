package gpuexec

import (
	"context"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/model"
)

// adapter is a place for one, and the one that is in it.
type adapter struct {
	number int32 // of the place
	rank   int32 // of its matrices there
	joints int32 // bits of those to which it adds, in any layer
}

// adapterLayout is where an adapter's matrices lie in its place, in numbers of bf16: for each joint of
// each layer A [modules*rank][padded inputs] and B [outputs][rank], with the adapter's largest rank,
// padded. So all sizes are multiples of it.
type adapterLayout struct {
	joints  [joints]joint
	maxRank int           // padded; 0: there are no adapters
	before  [][joints]int // numbers before a layer's joint, for each rank
	each    int           // numbers of a place, for each rank
}

func adapterLayoutOf(c *Config) adapterLayout {
	l := adapterLayout{joints: jointsOf(c.Model)}
	if c.MaxAdapters == 0 {
		return l
	}
	l.maxRank, l.before = padded(c.MaxAdapterRank), make([][joints]int, c.Model.Layers)
	for layer := range l.before {
		for i := range ownJoints(c.Model, layer) {
			j := &l.joints[i]
			l.before[layer][i] = l.each
			l.each += len(j.modules)*padded(j.in) + j.outputs()
		}
	}
	return l
}

// place is the size of one, in numbers.
func (l *adapterLayout) place() int { return l.maxRank * l.each }

// work is what steps of t tokens need: numbers of float32 for what A gives, and of bf16 for what is
// added to a product.
func (l *adapterLayout) work(m *model.Config, t int) (low, delta int) {
	for layer := range l.before {
		for i := range ownJoints(m, layer) {
			j := &l.joints[i]
			low = max(low, kernels.LoraFloats(t, padded(j.in), len(j.modules), l.maxRank))
			delta = max(delta, t*j.outputs())
		}
	}
	return low, delta
}

// sendAdapter copies an adapter, which was checked, to its place, and waits until it is there.
func (e *Executor) sendAdapter(ctx context.Context, p *adapter, a *model.Adapter) error {
	rank, by := 0, a.ByModule()
	for i := range a.Parts {
		rank = max(rank, padded(a.Parts[i].Rank))
	}
	p.rank, p.joints = int32(rank), 0
	l, m := &e.dims.adapters, e.config.Model
	at := e.adapters.room.at + cuda.Pointer(2*int(p.number)*l.place())
	for layer := range m.Layers {
		for i := range ownJoints(m, layer) {
			j := sending{joint: &l.joints[i], rank: rank}
			for _, one := range j.modules {
				part := by.Of(m, layer, one.name, j.in, one.out)
				j.parts = append(j.parts, part)
				if part != nil {
					p.joints |= 1 << i
				}
			}
			if err := j.send(ctx, &e.sender, at+cuda.Pointer(2*rank*l.before[layer][i])); err != nil {
				return err
			}
		}
	}
	return e.sender.stream.Synchronize()
}

// sending is an adapter's matrices for a joint of a layer.
type sending struct {
	*joint
	parts []*model.AdapterPart // of its modules; nil: zeros
	rank  int
}

func (s *sending) send(ctx context.Context, to *sender, at cuda.Pointer) error {
	width, downs := 2*padded(s.in), len(s.modules)*s.rank
	if err := to.rows(ctx, at, width, downs, s.down); err != nil {
		return err
	}
	return to.rows(ctx, at+cuda.Pointer(downs*width), 2*s.rank, s.outputs(), s.up)
}

// down writes row i of A to dst.
func (s *sending) down(dst []byte, i int) {
	part, row := s.parts[i/s.rank], i%s.rank
	if part != nil && row < part.Rank {
		dst = dst[putBF16(dst, part.A[row*s.in:][:s.in]):]
	}
	clear(dst)
}

// up writes row i of B to dst, scaled.
func (s *sending) up(dst []byte, i int) {
	module := 0
	for i >= s.modules[module].out {
		i -= s.modules[module].out
		module++
	}
	if part := s.parts[module]; part != nil {
		for _, v := range part.B[i*part.Rank:][:part.Rank] {
			dst = dst[putBF16(dst, []float32{float32(part.Scale * float64(v))}):]
		}
	}
	clear(dst)
}
