package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
	"github.com/cbactor/cbactor/engine/texts"
)

// maxLead is how much of a prompt is shown before the text that goes on with it,
// in characters.
const maxLead = 500

// job is a request to run.
type job struct {
	request texts.Request
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
	model    *generator
	settings requests.Settings // of requests that do not say otherwise
	told     bool              // results are JSON, which has a place for all that is told
}

// job makes the job of a prompt.
func (m maker) job(id string, p texts.Prompt, settings requests.Settings) job {
	j := job{request: m.settle(settings)}
	j.request.ID, j.request.Prompt, j.request.Wait = id, p, m.model.elsewhere
	if j.request.Seed == nil {
		j.request.Seed = m.model.seedOf(id)
	}
	if p.Text != nil {
		j.lead, j.bad = lead(*p.Text), requests.CheckText(*p.Text)
	}
	return j
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
func (m maker) fromPrompts(list []texts.Prompt) source {
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

// fromFile gives the jobs of a file. Those that are done are to be skipped; nil: none is.
// What has no effect is told to warn.
func (m maker) fromFile(ctx context.Context, r *requests.Reader, done *requests.Done, warn *warner) source {
	return func() (job, error) {
		line, err := r.Next()
		var bad *requests.LineError
		if errors.As(err, &bad) {
			return failing(bad.ID, err), nil
		}
		if err != nil {
			return job{}, err
		}
		j := m.job(line.ID, line.Prompt, line.Settings)
		j.line = r.Place(line)
		if j.bad == nil && done != nil {
			j.skip, j.bad = m.done(ctx, j, done)
		}
		if j.bad == nil && !j.skip {
			warn.line(j.line, m.idle(ctx, line.Settings, j.request, false))
		}
		j.lead = "" // of many texts only the generated part is of interest
		return j, nil
	}
}

// failing is a job that cannot run.
func failing(id string, err error) job {
	j := job{bad: err}
	j.request.ID = id
	return j
}

// done says whether all sequences of a job are done.
func (m maker) done(ctx context.Context, j job, in *requests.Done) (bool, error) {
	ids, err := m.model.Encode(ctx, j.request.Prompt)
	if err != nil {
		return false, err
	}
	for i := range j.request.N {
		if is, err := in.Has(actors.ChildID(j.request.ID, i), ids); !is || err != nil {
			return false, err
		}
	}
	return true, nil
}

// entry is how a job is shown.
func (j job) entry(index int) show.Entry {
	return show.Entry{Index: index, ID: j.request.ID, Lead: j.lead, MaxNew: j.request.MaxNewTokens}
}
