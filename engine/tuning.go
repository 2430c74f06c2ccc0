package engine

import (
	"fmt"
	"path/filepath"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/engine/internal/figures"
	"github.com/cbactor/cbactor/executor/tuning"
	"github.com/cbactor/cbactor/gpuexec"
)

// tuned is what executors measure.
func (r *Resolved) tuned() *tuning.Tune {
	if r.gpu != nil {
		return &r.gpuPlan.Tune
	}
	return &r.cpu.Tune
}

// figures are those measured on such a device; an error where there is no place for them.
func (r *Resolved) figures() (*figures.Store, error) {
	dir, err := checkpoint.CacheDir()
	if err != nil {
		return nil, err
	}
	device, version := figures.CPU(), cpuexec.TunerVersion
	if r.gpu != nil {
		device, version = fmt.Sprintf("%s %d.%d", r.gpu.Name, r.gpu.Major, r.gpu.Minor), gpuexec.TunerVersion
	}
	return figures.Open(filepath.Join(dir, "tuning"), device, version), nil
}

// keepTuned lets executors know what was measured before, and keeps what they measure. That
// it could not be kept is told once.
func (r *Resolved) keepTuned(t *tuning.Tune) {
	if !r.tuned().Measures() {
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
	if r.Config.Executor != nil || !r.tuned().Measures() {
		return "none"
	}
	store, err := r.figures()
	if err != nil {
		return "at each start: " + err.Error()
	}
	return fmt.Sprintf("at the start; %d figures are known from earlier ones, in %s", store.Len(), store.Path())
}
