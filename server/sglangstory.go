package server

import (
	"strings"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/sampling"
)

// sglangStory is what came of a sequence so far.
type sglangStory struct {
	text strings.Builder
	ids  []int32
	own  []sglangLogprob   // nil: not asked for
	top  [][]sglangLogprob // likewise

	processed []float64 // likewise
	versions  []engine.VersionSpan
}

func newSglangStory(ask *sglangAsk, processed bool) *sglangStory {
	s := &sglangStory{}
	if ask.logprobs {
		s.own = []sglangLogprob{}
	}
	if ask.top > 0 {
		s.top = [][]sglangLogprob{}
	}
	if processed {
		s.processed = []float64{}
	}
	return s
}

// hear takes what came of a sequence.
func (a *sglanging) hear(sequence int, c *texts.Chunk) {
	ask, story := a.ask(sequence), a.told[sequence]
	story.text.WriteString(c.Text)
	story.ids = append(story.ids, c.TokenIDs...)
	story.sampledBy(c.WeightVersions)
	if a.processed {
		story.processed = append(story.processed, processed(c.Logprobs)...)
	}
	if !ask.logprobs {
		return
	}
	for _, d := range c.Logprobs {
		story.own = append(story.own, a.logprob(d.Logprob, ask.raw))
		if ask.top > 0 {
			story.top = append(story.top, a.likeliest(d.Top, ask.raw))
		}
	}
}

// sampledBy takes the versions that sampled what came last; none: as before.
func (s *sglangStory) sampledBy(versions []engine.VersionSpan) {
	for _, v := range versions {
		if n := len(s.versions); n == 0 || s.versions[n-1].Version != v.Version {
			s.versions = append(s.versions, v)
		}
	}
	for i := range s.versions {
		s.versions[i].End = len(s.ids)
		if i > 0 {
			s.versions[i-1].End = s.versions[i].Start
		}
	}
}

// logprob is a log-probability as SGLang writes it.
func (a *sglanging) logprob(l sampling.Logprob, raw bool) sglangLogprob {
	value := finite(l.Sampled)
	if raw {
		value = finite(l.Raw)
	}
	return sglangLogprob{value, l.ID, a.spelled(l.ID)}
}

// spelled is the text of a token, where it is asked for.
func (a *sglanging) spelled(id int32) any {
	if !a.params.Spelled {
		return nil
	}
	token, _ := a.speller(false).token(id)
	return token
}

func (a *sglanging) likeliest(list []sampling.Logprob, raw bool) []sglangLogprob {
	top := make([]sglangLogprob, len(list))
	for i, l := range list {
		top[i] = a.logprob(l, raw)
	}
	return top
}
