package sched

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/executor"
)

// claims are what a sequence is told of weights: which sampled its tokens, and which
// computed the cache that they came from. They are held against the tokens, which the
// ECHO executor computes from what is in the cache, and against the policies.
type claims struct {
	request Submit
	child   int32
	windows []int
	failing bool

	commits []Commit // since it came
	had     []int    // tokens that it had at each of them
	before  Commit   // the one in force when it came
	first   uint32   // epoch of its first token, 0: it has none
	runs    []Run    // last told, since it started
}

// mixed tells that it is not known before what it brings: weights changed.
func (c *claims) mixed() bool { return len(c.commits) > 0 || c.before.Epoch > 1 }

// hold holds an item against what came before it.
func (c *claims) hold(o *outcome, it Item) error {
	if it.Context == 0 { // not the outcome of a row
		return c.mayEnd(it.Finish)
	}
	epochs, err := perPosition(it.Runs, it.Context)
	if err != nil {
		return err
	}
	if n := len(c.runs); len(it.Runs) < n || !slices.Equal(it.Runs[:n], c.runs) {
		return fmt.Errorf("had cache of %v and has of %v", c.runs, it.Runs)
	}
	c.runs = slices.Clone(it.Runs)
	if err := c.policies(it); err != nil {
		return err
	}
	ids := append(slices.Clone(o.prompt), o.got...)
	for i, d := range it.Prompt {
		n := len(o.told) + 1 + i
		next := executor.EchoNext(ids[:n], epochs[:n], vocab, c.windows...)
		if want := executor.EchoLogprob(ids[n], next, int32(n), vocab); d.Raw != want {
			return fmt.Errorf("is told %v of its prompt's id %d, want %v", d.Raw, n, want)
		}
	}
	return c.tokens(o, it, ids, epochs)
}

// tokens wants an item's token to be the one that the cache gives, and the end to be
// the token's.
func (c *claims) tokens(o *outcome, it Item, ids []int32, epochs []uint32) error {
	if c.failing && (it.Finish == Failed) != (c.request.MaxNew > 0 && int(it.Context) == len(ids) && fails(ids) != nil) {
		return fmt.Errorf("ends %d behind %d", it.Finish, ids[len(ids)-1])
	}
	if len(it.IDs) == 0 {
		return nil
	}
	if len(epochs) != len(ids) || epochs[len(ids)-1] != it.Epoch {
		return fmt.Errorf("samples a token of epoch %d from cache of %v up to %d, want it of %d ids", it.Epoch, it.Runs, it.Context, len(ids))
	}
	if c.first == 0 {
		c.first = it.Epoch
	}
	next := executor.EchoNext(ids, epochs, vocab, c.windows...)
	if next = sampled(&c.request, c.child, len(ids), next); it.IDs[0] != next || len(it.IDs) != 1 {
		return fmt.Errorf("gets %v from cache of %v, want %d", it.IDs, it.Runs, next)
	}
	want := Running
	switch {
	case it.Finish == Stale:
		return c.mayEnd(Stale)
	case slices.Contains(c.request.EOS, next):
		want = Stop
	case len(o.got)+1 == int(c.request.MaxNew):
		want = Length
	}
	if it.Finish != want {
		return fmt.Errorf("goes on as %d behind token %d, want %d", it.Finish, len(o.got)+1, want)
	}
	return nil
}

// policies wants an item to be of no weights that a commit's policy, or the request,
// excludes.
func (c *claims) policies(it Item) error {
	for i, m := range c.commits {
		if it.Epoch < m.Epoch {
			break
		}
		switch policy := c.policy(m); {
		case it.Epoch == m.Epoch && m.Version < c.request.Version: // of those that came into force together only the last computes
			return fmt.Errorf("is computed by version %d", m.Version)
		case policy == Recompute && it.Runs[0].Epoch < m.Epoch:
			return fmt.Errorf("has cache of %v behind the commit of epoch %d", it.Runs, m.Epoch)
		case policy == Abort && c.had[i] > 0:
			return fmt.Errorf("goes on behind the commit of epoch %d", m.Epoch)
		}
	}
	if n := uint32(c.request.Commits); n > 0 && c.first > 0 && it.Epoch-c.first >= n {
		return fmt.Errorf("goes on in epoch %d, and began in %d", it.Epoch, c.first)
	}
	return nil
}

func (c *claims) policy(m Commit) KV {
	if c.request.KV != AsCommitted {
		return c.request.KV
	}
	return m.KV
}

// mayEnd wants a reason for an end by a commit.
func (c *claims) mayEnd(f Finish) error {
	if f == Stale && c.before.Version < c.request.Version {
		return nil
	}
	for _, m := range c.commits {
		aborts := f == Aborted && c.policy(m) == Abort
		expires := c.request.Commits > 0 && c.first > 0 && m.Epoch-c.first >= uint32(c.request.Commits)
		if aborts || f == Stale && (m.Version < c.request.Version || expires) {
			return nil
		}
	}
	return errors.New("ended by no commit")
}

// perPosition is the epoch of each position of a context.
func perPosition(runs []Run, context int32) (epochs []uint32, err error) {
	for i, r := range runs {
		if i == 0 && r.Start != 0 || i > 0 && (r.Start <= runs[i-1].Start || r.Epoch <= runs[i-1].Epoch || r.Start >= context) {
			return nil, fmt.Errorf("is told of cache of %v", runs)
		}
		end := context
		if i+1 < len(runs) {
			end = min(end, runs[i+1].Start)
		}
		for p := r.Start; p < end; p++ {
			epochs = append(epochs, r.Epoch)
		}
	}
	if len(epochs) != int(context) {
		return nil, fmt.Errorf("is told of cache of %v up to %d", runs, context)
	}
	return epochs, nil
}
