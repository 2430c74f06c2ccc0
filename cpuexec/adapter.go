package cpuexec

import (
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/model"
)

// adapter is a place for one, and the one that is in it.
type adapter struct {
	number int // of the place
	area   area
	layers [][joints]lowRank
}

// lowRank is what an adapter adds to a matrix: x times down, times up.
type lowRank struct {
	down matrix // columns are the ranks of the modules, one behind the other
	up   []upPanel
}

// upPanel is the columns of one panel of the matrix: over the ranks of the modules that
// it reaches.
type upPanel struct {
	panel   []float32 // [k][32], scaled
	from, k int
}

// none tells that the matrix stays as it is.
func (r *lowRank) none() bool { return len(r.up) == 0 }

// adapterBytes is the size of a place: every module with the largest rank.
func adapterBytes(c *Config, d *dims) int64 {
	n := int64(0)
	all := d.joints()
	for l := range d.layers {
		for i := range ownJoints(c.Model, l) {
			n += adapterJointBytes(&all[i], c.MaxAdapterRank)
		}
	}
	return n
}

// adapterJointBytes is what it takes for one matrix.
func adapterJointBytes(j *joint, rank int) int64 {
	n := lines(j.in * padded(len(j.modules)*rank))
	for p := range j.width / kernels.Panel {
		first, end := j.reach(p)
		n += lines((end - first) * rank * kernels.Panel)
	}
	return n
}

// lowWidth is the length of a row of ranks; 0 where there are no adapters.
func (c *Config) lowWidth(d *dims) int {
	if c.MaxAdapters == 0 {
		return 0
	}
	most := 0
	for _, j := range d.joints() {
		most = max(most, len(j.modules))
	}
	return padded(most * c.MaxAdapterRank)
}

// fill packs a, which was checked.
func (p *adapter) fill(a *model.Adapter, m *model.Config, d *dims, between func()) {
	by := a.ByModule()
	p.area.used = 0
	p.layers = make([][joints]lowRank, d.layers)
	all := d.joints()
	for l := range p.layers {
		for i := range ownJoints(m, l) {
			p.layers[l][i] = p.joint(&all[i], all[i].parts(m, l, by))
		}
		between()
	}
}

// joint packs what is added to one matrix.
func (p *adapter) joint(j *joint, parts []*model.AdapterPart) lowRank {
	starts := make([]int, len(parts)+1) // where the ranks of a module begin
	for m, part := range parts {
		starts[m+1] = starts[m]
		if part != nil {
			starts[m+1] += part.Rank
		}
	}
	ranks := starts[len(parts)]
	if ranks == 0 {
		return lowRank{}
	}
	r := lowRank{down: newMatrix(&p.area, kernels.F32, j.in, padded(ranks)), up: make([]upPanel, j.width/kernels.Panel)}
	clear(r.down.panels) // an earlier adapter's
	for m, part := range parts {
		for c := range starts[m+1] - starts[m] {
			at := starts[m] + c
			panel := r.down.floats(at / kernels.Panel)
			for k, v := range part.A[c*j.in:][:j.in] {
				panel[k*kernels.Panel+at%kernels.Panel] = v
			}
		}
	}
	for i := range r.up {
		first, end := j.reach(i)
		up := &r.up[i]
		up.from, up.k = starts[first], starts[end]-starts[first]
		up.panel = cut[float32](&p.area, up.k*kernels.Panel)
		clear(up.panel)
		up.fill(j, i, starts, parts)
	}
	return r
}

// fill writes panel number i: the rows of B, scaled, and zeros for the ranks of other
// modules.
func (r *upPanel) fill(j *joint, i int, starts []int, parts []*model.AdapterPart) {
	for c := range kernels.Panel {
		m, row, ok := j.column(i*kernels.Panel + c)
		if !ok || parts[m] == nil {
			continue
		}
		part := parts[m]
		for k, v := range part.B[row*part.Rank:][:part.Rank] {
			r.panel[(starts[m]-r.from+k)*kernels.Panel+c] = float32(part.Scale * float64(v))
		}
	}
}
