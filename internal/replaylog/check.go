package replaylog

import (
	"slices"

	"github.com/cbactor/cbactor/weights"
)

// Bounds of what a log may ask for.
const (
	maxSequences = 1 << 16 // of a request
	maxLength    = 1 << 30 // tokens of a sequence
)

func (r *Reader) takeWeights(w *Weights) error {
	if w.Epoch <= r.epoch {
		return r.wrong("weights of epoch %d come after those of epoch %d", w.Epoch, r.epoch)
	}
	if _, err := weights.ParseDigest(w.Digest); err != nil || w.Digest == "" {
		return r.wrong("the digest of version %.60q is %.80q", w.Version, w.Digest)
	}
	r.epoch = w.Epoch
	r.epochs[w.Epoch] = true
	return nil
}

func (r *Reader) takeRequest(q *Request) error {
	switch {
	case q.Number <= r.last:
		return r.wrong("request %d comes after request %d", q.Number, r.last)
	case q.Sequences < 1 || q.Sequences > maxSequences:
		return r.wrong("request %d has %d sequences, must be from 1 to %d", q.Number, q.Sequences, maxSequences)
	case len(q.Prompt) == 0:
		return r.wrong("request %d has no prompt", q.Number)
	case len(q.Prompt) > maxLength:
		return r.wrong("request %d has a prompt of %d tokens, at most %d can be", q.Number, len(q.Prompt), maxLength)
	}
	if err := r.inVocab("the prompt", q.Prompt); err != nil {
		return err
	}
	if err := q.Sampling.CheckVocab(r.Header.Vocab); err != nil {
		return r.wrong("request %d: %w", q.Number, err)
	}
	r.last = q.Number
	r.open[q.Number] = &open{q, map[int32]bool{}}
	return nil
}

func (r *Reader) inVocab(what string, ids []int32) error {
	for i, id := range ids {
		if id < 0 || int(id) >= r.Header.Vocab {
			return r.wrong("%s has id %d in place %d, the vocabulary has %d", what, id, i, r.Header.Vocab)
		}
	}
	return nil
}

// takeSequence finds the request of a sequence. One whose request was lost is, too, and so
// is one of weights that were.
func (r *Reader) takeSequence(s *Sequence) (Entry, error) {
	o := r.open[s.Request]
	switch {
	case o == nil && r.lost > 0:
		r.lost++
		return Entry{}, nil
	case o == nil:
		return Entry{}, r.wrong("a sequence of request %d, of which none is open", s.Request)
	case s.Child < 0 || int(s.Child) >= o.request.Sequences || o.seen[s.Child]:
		return Entry{}, r.wrong("sequence %d of request %d, which has %d, each once", s.Child, s.Request, o.request.Sequences)
	case len(s.Tokens) > maxLength-len(o.request.Prompt):
		return Entry{}, r.wrong("%d tokens behind a prompt of %d, at most %d can be", len(s.Tokens), len(o.request.Prompt), maxLength)
	}
	if err := r.checkSequence(o.request, s); err != nil {
		return Entry{}, err
	}
	if o.seen[s.Child] = true; len(o.seen) == o.request.Sequences {
		delete(r.open, s.Request)
	}
	switch epoch, unknown := r.unknown(s); {
	case unknown && r.lost > 0:
		r.lost++
		return Entry{}, nil
	case unknown:
		return Entry{}, r.wrong("there are no weights of epoch %d", epoch)
	}
	return Entry{Request: o.request, Sequence: s}, nil
}

// unknown is an epoch of a sequence that no weights were told of.
func (r *Reader) unknown(s *Sequence) (epoch uint32, is bool) {
	of := slices.Clone(s.Sampled)
	for _, c := range s.Caches {
		of = append(of, c.Runs...)
	}
	for _, run := range of {
		if !r.epochs[run.Epoch] {
			return run.Epoch, true
		}
	}
	return 0, false
}

// checkSequence checks that tokens are ids, and that caches and runs cover them.
func (r *Reader) checkSequence(q *Request, s *Sequence) error {
	n := len(s.Tokens)
	if err := r.inVocab("the sequence", s.Tokens); err != nil {
		return err
	}
	if n == 0 {
		if len(s.Caches)+len(s.Sampled) > 0 {
			return r.wrong("spans of no tokens")
		}
		return nil
	}
	if err := r.checkRuns("sampled", s.Sampled, n); err != nil {
		return err
	}
	if len(s.Caches) == 0 || s.Caches[0].First != 0 {
		return r.wrong("caches must begin with the first token")
	}
	for i, c := range s.Caches {
		end := n
		if i+1 < len(s.Caches) {
			end = s.Caches[i+1].First
		}
		if c.First >= end || end > n {
			return r.wrong("cache %d is of the tokens from %d on and before %d, of %d", i, c.First, end, n)
		}
		if err := r.checkRuns("runs", c.Runs, len(q.Prompt)+end-1); err != nil {
			return err
		}
	}
	return nil
}

// checkRuns checks that runs cover what lies before end, each a part of it.
func (r *Reader) checkRuns(what string, runs []Run, end int) error {
	if len(runs) == 0 || runs[0].Start != 0 {
		return r.wrong("%s must begin with 0", what)
	}
	for i, run := range runs {
		switch {
		case i > 0 && run.Start <= runs[i-1].Start:
			return r.wrong("%s: %d comes after %d", what, run.Start, runs[i-1].Start)
		case i > 0 && run.Epoch <= runs[i-1].Epoch:
			return r.wrong("%s: epoch %d comes after epoch %d", what, run.Epoch, runs[i-1].Epoch)
		case int(run.Start) >= end:
			return r.wrong("%s: %d is behind the end, %d", what, run.Start, end)
		}
	}
	return nil
}
