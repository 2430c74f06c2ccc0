package main

import (
	"context"
	"slices"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/text"
)

// priorityPolicy is the scheduler type that looks at priorities.
const priorityPolicy = "priority"

// maxSpecial is how many stop texts are remembered.
const maxSpecial = 1000

// generator is what requests are put to.
type generator struct {
	texts.Service
	engine engine.API

	elsewhere   bool                  // the engine is served by another process, and others use it
	seed        uint64                // what seeds of requests are drawn from here; 0: the engine draws them
	noText      error                 // why it takes token ids only; nil: it takes text, too
	codec       *text.Codec           // of an engine of this process; nil: it has none
	stored      string                // type that most of its weights have in the files; "": not known
	generation  checkpoint.Generation // what the model's authors recommend
	recommended sampling.Params       // of that, what there is
	policy      string                // of the scheduler
	special     map[string]bool       // texts that were asked about: whether they have a token that is not shown
}

// newGenerator makes one of an engine and what gives it words, for a model whose authors
// recommend that.
func newGenerator(e engine.API, service texts.Service, noText error, recommended checkpoint.Generation) (*generator, error) {
	g := &generator{Service: service, engine: e, noText: noText, generation: recommended, special: map[string]bool{}}
	g.policy, _ = settingOf(e.Info(), "scheduler_type").(string) // it is there, but of an engine of another version
	var err error
	g.recommended, err = engine.Recommended(recommended)
	return g, err
}

// words is what gives words; nil: the model has no tokenizer.
func (g *generator) words() texts.Service {
	if g.noText != nil {
		return nil
	}
	return g.Service
}

// close closes the engine, or the connection to it, and adds what went wrong with that to err.
func (g *generator) close(err *error) {
	what := "stop the engine"
	if g.elsewhere {
		what = "close the connection"
	}
	closeEngine(g.engine, what, err)
}

// settingOf is the value of a field in force; nil: there is none of the name.
func settingOf(info engine.Info, name string) any {
	i := slices.IndexFunc(info.Settings, func(s engine.Setting) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return info.Settings[i].Value
}

// checkText refuses flags that need a tokenizer of a model without one.
func (g *generator) checkText(settled texts.Request) error {
	switch {
	case g.noText == nil:
		return nil
	case len(settled.Stop) > 0:
		return badUsage("stop: %w", g.noText)
	case len(settled.BadWords) > 0:
		return badUsage("bad_words: %w", g.noText)
	}
	return nil
}

// spellSpecial says whether a text has a token in it that is not shown. Where that
// cannot be found out, as the connection is lost, the requests will say so.
func (g *generator) spellSpecial(ctx context.Context, list []string) bool {
	if g.noText != nil {
		return false
	}
	return slices.ContainsFunc(list, func(s string) bool {
		is, known := g.special[s]
		if !known {
			if len(g.special) == maxSpecial {
				clear(g.special)
			}
			is = g.hasHidden(ctx, s)
			g.special[s] = is
		}
		return is
	})
}

func (g *generator) hasHidden(ctx context.Context, s string) bool {
	ids, err := g.Encode(ctx, texts.Prompt{Raw: &s})
	return err == nil && slices.ContainsFunc(ids, func(id int32) bool {
		shown, err := g.Decode(ctx, []int32{id})
		return err == nil && shown == ""
	})
}
