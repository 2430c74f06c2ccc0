package actors

import (
	"sync"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sched"
)

// tokenPool and resultPool recycle what travels once a step: a result from executor
// to scheduler, and in the tokens that point into it on to intake. The last owner
// puts both back.
type tokenPool struct {
	p       sync.Pool
	results *resultPool
}

func (p *tokenPool) get() *sched.Tokens {
	if t, ok := p.p.Get().(*sched.Tokens); ok {
		return t
	}
	return new(sched.Tokens)
}

func (p *tokenPool) put(t *sched.Tokens) {
	if t.Result != nil {
		p.results.put(t.Result)
	}
	t.Reset()
	p.p.Put(t)
}

type resultPool struct{ p sync.Pool }

func (p *resultPool) get() *executor.Result {
	if r, ok := p.p.Get().(*executor.Result); ok {
		return r
	}
	return new(executor.Result)
}

func (p *resultPool) put(r *executor.Result) {
	r.Reset()
	p.p.Put(r)
}
