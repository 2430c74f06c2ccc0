package engine

import (
	"fmt"
	"path/filepath"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/engine/internal/figures"
	"github.com/cbactor/cbactor/executor/tuning"
)

// tunes says that something is to be measured.
func (r *Resolved) tunes() bool {
	return r.cpu.Tune.Measures()
}

// figures are those measured on this CPU; an error where there is no place for them.
func (r *Resolved) figures() (*figures.Store, error) {
	dir, err := checkpoint.CacheDir()
	if err != nil {
		return nil, err
	}
	return figures.Open(filepath.Join(dir, "tuning"), cpuexec.TunerVersion), nil
}

// keepTuned lets executors know what was measured before, and keeps what they measure. That
// it could not be kept is told once.
func (r *Resolved) keepTuned(t *tuning.Tune) {
	if !r.tunes() {
		return
	}
	log := r.Config.Log
	store, err := r.figures()
	if err != nil {
		log.Warn().Err(err).Msg("what is tuned is not kept")
	} else {
		t.Known = store.Known
	}
	t.Chosen = func(choices []tuning.Choice) {
		learned := map[string]int{}
		for _, c := range choices {
			if c.Measured {
				learned[c.Key] = c.Value
			}
			log.Debug().Str("figure", c.Key).Int("value", c.Value).Int("default", c.Default).Bool("measured", c.Measured).Msg("tuned")
		}
		log.Info().Int("measured", len(learned)).Int("known", len(choices)-len(learned)).Msg("tuned")
		if store == nil || len(learned) == 0 {
			return
		}
		if err := store.Add(learned); err != nil {
			log.Warn().Err(err).Msg("the next process has to measure again")
		}
	}
}

// Tuning says in words what a start measures, and what is known from earlier ones.
func (r *Resolved) Tuning() string {
	if r.Config.Executor != nil || !r.tunes() {
		return "none"
	}
	store, err := r.figures()
	if err != nil {
		return "at each start: " + err.Error()
	}
	return fmt.Sprintf("at the start; %d figures are known from earlier ones, in %s", store.Len(), store.Path())
}
