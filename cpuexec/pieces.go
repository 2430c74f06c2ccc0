package cpuexec

import (
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/model"
)

// piece is modules of a joint that are one matrix: those side by side that have one format.
// It has whole panels of the joint.
type piece struct {
	format       kernels.Format
	from, end    int // modules, the last before end
	first, width int // columns
}

// pieces cuts a joint, whose modules are stored so, where another format begins. Where a panel
// would have columns of two formats, or panels of modules alternate, all are one piece in a
// format for all.
func (c *Config) pieces(j *joint, stored []model.DType) []piece {
	var list []piece
	column := 0
	for m, t := range stored {
		format := c.format(t)
		if n := len(list); n > 0 && list[n-1].format == format {
			list[n-1].end++
		} else {
			if n > 0 && (j.alternate || column%kernels.Panel != 0) {
				return []piece{{c.format(stored...), 0, len(stored), 0, j.width}}
			}
			list = append(list, piece{format: format, from: m, end: m + 1, first: column})
		}
		column += j.modules[m].out
	}
	for i := range list {
		end := j.width
		if i+1 < len(list) {
			end = list[i+1].first
		}
		list[i].width = end - list[i].first
	}
	return list
}
