package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/sampling"
)

// maxLead is how much of a prompt is shown before the text that goes on with it,
// in characters.
const maxLead = 500

// job is a request to run.
type job struct {
	request engine.Request
	texts   decoding
	lead    string              // see show.Entry
	bad     error               // why it cannot run; nil: it can
	line    *requests.LineError // where it stands in a file; nil: in none
	typed   bool                // by the user of this command: what it asks for wrongly is bad usage
	skip    bool                // an earlier run has done it
}

// source gives jobs one by one, then io.EOF. Any other error ends the run.
type source func() (job, error)

// maker makes jobs for a model.
type maker struct {
	model       *loaded
	recommended sampling.Params   // by the model
	settings    requests.Settings // of requests that do not say otherwise
	policy      string            // of the scheduler
	told        bool              // results are JSON, which has a place for all that is told
}

// job makes the job of a prompt.
func (m maker) job(id string, p requests.Prompt, settings requests.Settings) job {
	var j job
	j.request, j.texts, j.bad = m.settle(settings)
	j.request.ID = id
	ids, err := m.encode(p)
	j.request.PromptIDs = ids
	if j.bad == nil {
		j.bad = err
	}
	if p.Text != nil {
		j.lead = lead(*p.Text)
	}
	return j
}

func (m maker) encode(p requests.Prompt) ([]int32, error) {
	codec := m.model.codec
	switch {
	case p.IDs != nil:
		return p.IDs, nil
	case codec == nil:
		return nil, m.model.noCodec
	case p.Messages != nil:
		return codec.EncodeChat(p.Messages)
	}
	return codec.Encode(*p.Text), requests.CheckText(*p.Text)
}

// lead is the end of a prompt.
func lead(prompt string) string {
	runes := []rune(prompt)
	if len(runes) <= maxLead {
		return prompt
	}
	return "…" + string(runes[len(runes)-maxLead:])
}

// fromPrompts gives the jobs of prompts, "prompt-1" and so on.
func (m maker) fromPrompts(list []requests.Prompt) source {
	next := 0
	return func() (job, error) {
		if next == len(list) {
			return job{}, io.EOF
		}
		p := list[next]
		next++
		j := m.job(promptID(next), p, m.settings)
		j.typed = true
		return j, nil
	}
}

// promptID is the id of the n-th prompt, from 1.
func promptID(n int) string { return fmt.Sprintf("prompt-%d", n) }

// fromFile gives the jobs of a file. Those that are done are to be skipped. What has no
// effect is told to warn.
func (m maker) fromFile(r *requests.Reader, done *requests.Done, warn *warner) source {
	return func() (job, error) {
		line, err := r.Next()
		var bad *requests.LineError
		if errors.As(err, &bad) {
			return job{request: engine.Request{ID: bad.ID}, bad: err}, nil
		}
		if err != nil {
			return job{}, err
		}
		j := m.job(line.ID, line.Prompt, line.Settings)
		j.line = r.Place(line)
		if j.bad == nil {
			j.skip, j.bad = j.done(done)
		}
		if j.bad == nil && !j.skip {
			warn.line(j.line, m.idle(line.Settings, j.request, false))
		}
		j.lead = "" // of many texts only the generated part is of interest
		return j, nil
	}
}

// done says whether all sequences of the job are done.
func (j job) done(in *requests.Done) (bool, error) {
	for i := range j.request.N {
		if is, err := in.Has(actors.ChildID(j.request.ID, i), j.request.PromptIDs); !is || err != nil {
			return false, err
		}
	}
	return true, nil
}

// entry is how a job is shown.
func (j job) entry(index int) show.Entry {
	return show.Entry{Index: index, ID: j.request.ID, Lead: j.lead, MaxNew: j.request.MaxNewTokens}
}
