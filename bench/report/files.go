package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// errMeasurements means that a file is not what the programs in bench/compare write.
var errMeasurements = errors.New("not a file of measurements")

// machine is what machine.py tells.
type machine struct {
	CPU    string            `json:"cpu"`
	Cores  int               `json:"cores"`
	Flags  []string          `json:"flags"`
	Caches map[string]string `json:"caches"`
	Memory float64           `json:"memory_gib"`
	Kernel string            `json:"kernel"`
}

// about is what every file says first.
type about struct {
	Kind    string  `json:"kind"`
	Date    string  `json:"date"`
	Cbactor string  `json:"cbactor"` // its version
	Machine machine `json:"machine"`
}

// run is one measurement: tokens generated per second, or why there are none.
type run struct {
	Round int     `json:"round"`
	Load  float64 `json:"load"` // of the machine in the minute before
	PerS  float64 `json:"per_s"`
	Error string  `json:"error"`
}

// peersFile is what compare.py writes.
type peersFile struct {
	about
	Engines map[string]struct {
		Version, Weights, How string
	} `json:"engines"`
	Workloads map[string]struct {
		Requests, Prompt, Generated int
	} `json:"workloads"`
	Runs []struct {
		run
		Engine   string  `json:"engine"`
		Workload string  `json:"workload"`
		Seconds  float64 `json:"seconds"`
	} `json:"runs"`
}

// curvesFile is what curves.py writes.
type curvesFile struct {
	about
	Model     string            `json:"model"`
	Series    map[string]string `json:"series"` // flags by name
	AtContext int               `json:"at_context"`
	AtBatch   int               `json:"at_batch"`
	Runs      []struct {
		run
		Series      string  `json:"series"`
		Curve       string  `json:"curve"` // what it is over: batch or context
		Batch       int     `json:"batch"`
		Context     int     `json:"context"`
		PrefillPerS float64 `json:"prefill_per_s"`
	} `json:"runs"`
}

// checker is a file that knows what it must have.
type checker interface{ check() error }

func (p *peersFile) check() error {
	for i, r := range p.Runs {
		_, engine := p.Engines[r.Engine]
		_, workload := p.Workloads[r.Workload]
		if !engine || !workload || r.valid() != nil {
			return fmt.Errorf("run %d is of %q on %q: %w", i+1, r.Workload, r.Engine, errors.Join(errMeasurements, r.valid()))
		}
	}
	return p.is("compare", len(p.Runs))
}

func (c *curvesFile) check() error {
	for i, r := range c.Runs {
		_, known := c.Series[r.Series]
		if !known || r.Curve != "batch" && r.Curve != "context" || r.valid() != nil {
			return fmt.Errorf("run %d is of series %q over %q: %w", i+1, r.Series, r.Curve, errors.Join(errMeasurements, r.valid()))
		}
	}
	return c.is("curves", len(c.Runs))
}

// is checks the kind of a file, which must have runs.
func (a *about) is(kind string, runs int) error {
	if a.Kind != kind || runs == 0 {
		return fmt.Errorf("%w: it is of kind %q with %d runs, want %q", errMeasurements, a.Kind, runs, kind)
	}
	return nil
}

// valid checks that there is either a figure or an error.
func (r *run) valid() error {
	if (r.PerS > 0) == (r.Error != "") {
		return fmt.Errorf("%g tokens/s and error %q", r.PerS, r.Error)
	}
	return nil
}

// read reads a file into v. Errors wrap errMeasurements unless reading fails.
func read(path string, v checker) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("%w: %w", errMeasurements, err)
	}
	return v.check()
}
