package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/sampling"
)

// ids are those of a prompt, in the engine's vocabulary.
func (s *storm) ids(n, salt int) []int32 {
	list := ids(n, salt)
	for i := range list {
		list[i] %= int32(s.engine.Info().Vocab)
	}
	return list
}

// request is any request of the storm, whose tokens are those of the plain function up to
// where it ends.
func (s *storm) request(r *rand.Rand) Request {
	q := Request{PromptIDs: s.ids(1+r.IntN(40), r.IntN(8)), MaxNewTokens: 1 + r.IntN(30), N: max(0, r.IntN(6)-3),
		Priority: r.IntN(3), Wait: r.IntN(2) == 0, Streaming: r.IntN(2) == 0}
	soon := func() time.Duration { return time.Duration(1+r.IntN(5000)) * time.Microsecond }
	if s.draws && r.IntN(2) == 0 {
		q.Sampling = sampling.Params{Temperature: 1, TopK: r.Int32N(2) * 40}
	}
	if s.draws && r.IntN(6) == 0 {
		q.Sampling.RepetitionPenalty = 1.3
	}
	switch r.IntN(12) {
	case 0:
		q.Deadline = soon()
	case 1:
		q.FirstToken = soon()
	case 2:
		at := 1 + r.IntN(10)
		q.Stop = func() Matcher { return &endAt{at: at} }
	case 3:
		q.Score, q.MaxNewTokens, q.N = true, 0, 0
	case 4:
		q.Private = true
	case 5:
		q.KV = kv(r)
	case 6:
		q.MinVersion = s.engine.Version()
	case 7:
		most := r.IntN(3)
		q.MaxStaleness = &most
	}
	return q
}

// late has a handler take a request that is open or has ended, unless the one who takes
// any result is quicker.
func (s *storm) late(r *rand.Rand) {
	q := s.request(r)
	names, err := s.engine.AddRequests(context.Background(), []Request{q})
	if err != nil {
		s.refused(err)
		return
	}
	s.acceptFamily(q, names[0])
	if r.IntN(2) == 0 {
		time.Sleep(time.Duration(r.IntN(1000)) * time.Microsecond)
	}
	err = s.engine.Handle(names[0], func(c Chunk) {
		if c.Final != nil {
			s.ended(*c.Final, nil)
		}
	})
	if err != nil && !errors.Is(err, ErrUnknownID) {
		s.t.Error(err)
	}
}

// all reads results as they come, some of them or until there are no more.
func (s *storm) all(r *rand.Rand) {
	most := 1 + r.IntN(20)
	for out, err := range s.engine.Results(context.Background()) {
		s.ended(out, err)
		if most--; most == 0 {
			return
		}
	}
}

// acceptFamily notes a request under the ids of all of its sequences.
func (s *storm) acceptFamily(q Request, id string) {
	for i := range q.sequences() {
		s.accept(q, actors.ChildID(id, i))
	}
}
