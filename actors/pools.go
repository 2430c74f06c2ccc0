package actors

import (
	"sync"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sched"
)

// tokenPool and resultPool recycle what travels once a step: scheduler to intake,
// and executor to scheduler. The last owner puts it back.
type tokenPool struct{ p sync.Pool }

func (p *tokenPool) get() *sched.Tokens {
	if t, ok := p.p.Get().(*sched.Tokens); ok {
		return t
	}
	return new(sched.Tokens)
}

func (p *tokenPool) put(t *sched.Tokens) {
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
