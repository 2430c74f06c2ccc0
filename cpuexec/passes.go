package cpuexec

import (
	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/sampling"
)

// passes are a Set's for a Sampler, plain where it has none.
func passes(set *kernels.Set) sampling.Passes {
	p := sampling.Plain
	if set.Above != nil {
		p.Above = set.Above
	}
	if set.Weigh != nil {
		p.Weigh = set.Weigh
	}
	return p
}
