package server

import (
	"net/http"

	"github.com/cbactor/cbactor/engine"
)

// partTags are the parts of an engine's memory by vLLM's names. What it calls scheduling is
// the pause of a sleep.
var partTags = []struct {
	tag  string
	part engine.Part
}{{"kv_cache", engine.KV}, {"weights", engine.Weights}, {"scheduling", 0}}

// partsOf reads tags.
func partsOf(tags []string) (parts engine.Part, err error) {
next:
	for _, tag := range tags {
		for _, t := range partTags {
			if t.tag == tag {
				parts |= t.part
				continue next
			}
		}
		return 0, bad("tags", "has %.40q, must be kv_cache, weights or scheduling", tag)
	}
	return parts, nil
}

// tagsOf names parts.
func tagsOf(parts engine.Part) []string {
	tags := []string{}
	for _, t := range partTags {
		if t.part&parts != 0 {
			tags = append(tags, t.tag)
		}
	}
	return tags
}

// sleepAnswer is what routes of sleep answer.
type sleepAnswer struct {
	Status string   `json:"status"` // "sleeping" or "awake"
	Asleep []string `json:"asleep"` // what sleeps now
	Note   string   `json:"note,omitzero"`
}

// Where vLLM does something else, clients are told.
const (
	noteLevel2 = "level 2 is level 1 here: the weights are kept as they are stored, and compute again after wake_up unless others are loaded"
	noteParts  = "memory is taken again as a whole, once each part that sleeps was asked for; weights are loaded while they sleep, too"
)

type sleepParams struct {
	Model string   `json:"model"`
	Level *int     `json:"level"` // 0: the pause alone; 1, 2: the cache and the weights sleep; nil: 1
	Tags  []string `json:"tags"`  // what sleeps, in place of a level
	Mode  string   `json:"mode"`  // as of POST /pause
}

// sleeping answers POST /sleep. Levels and mode are vLLM's.
func (s *Server) sleeping(w http.ResponseWriter, r *http.Request) error {
	var p sleepParams
	if err := s.parameters(w, r, &p); err != nil {
		return err
	}
	m, _, err := s.find(p.Model)
	if err != nil {
		return err
	}
	o, err := (&pauseParams{Mode: p.Mode}).options()
	if err != nil {
		return err
	}
	parts, err := partsOf(p.Tags)
	level := 1
	switch {
	case err != nil:
		return err
	case p.Level != nil && p.Tags != nil:
		return bad("tags", "are given beside level: leave one out")
	case p.Level != nil && (*p.Level < 0 || *p.Level > 2):
		return bad("level", "is %d, must be from 0 to 2", *p.Level)
	case p.Level != nil:
		level = *p.Level
	}
	if p.Tags == nil && level > 0 {
		parts = engine.KV | engine.Weights
	}
	if err := s.sleep(r.Context(), m, parts, o); err != nil {
		return err
	}
	answer := sleepAnswer{Status: "sleeping"}
	if level == 2 {
		answer.Note = noteLevel2
	}
	_, asleep := m.sleeps()
	answer.Asleep = tagsOf(asleep)
	return s.answer(w, http.StatusOK, answer)
}

// wakingUp answers POST /wake_up.
func (s *Server) wakingUp(w http.ResponseWriter, r *http.Request) error {
	var p memoryParams
	if err := s.parameters(w, r, &p); err != nil {
		return err
	}
	m, _, err := s.find(p.Model)
	if err != nil {
		return err
	}
	parts, err := partsOf(p.Tags)
	if err != nil {
		return err
	}
	if len(p.Tags) == 0 {
		parts = engine.KV | engine.Weights
	}
	sleeps, err := s.wake(r.Context(), m, parts)
	if err != nil {
		return err
	}
	return s.answer(w, http.StatusOK, awake(m, sleeps))
}

// awake is the answer where a model was to wake, and may sleep on.
func awake(m *Model, sleeps bool) sleepAnswer {
	answer := sleepAnswer{Status: "awake"}
	if sleeps {
		answer.Status, answer.Note = "sleeping", noteParts
	}
	_, asleep := m.sleeps()
	answer.Asleep = tagsOf(asleep)
	return answer
}

type sleepingAnswer struct {
	Sleeping bool     `json:"is_sleeping"`
	Asleep   []string `json:"asleep"`
}

// isSleeping answers GET /is_sleeping.
func (s *Server) isSleeping(w http.ResponseWriter, r *http.Request) error {
	m, _, err := s.find(r.URL.Query().Get("model"))
	if err != nil {
		return err
	}
	sleeps, asleep := m.sleeps()
	return s.answer(w, http.StatusOK, sleepingAnswer{sleeps, tagsOf(asleep)})
}
