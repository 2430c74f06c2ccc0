package engine

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/cublaslt"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/gpuexec"
)

// Resolved is a Config with every field decided.
type Resolved struct {
	Config  Config
	Memory  Memory   // zero with an executor of the caller's
	Notices []string // what was asked for and is not in force, or not as asked

	given map[string]string // by field, where the user's value came from
	from  map[string]string // by field, why it has its value

	sizes sizes          // that the executor is planned with
	pool  executor.Pool  // of that plan
	cpu   cpuexec.Config // of that plan, but for the weights, where gpu is nil

	gpu     *cuda.Device      // that computes; nil: none
	gpuPlan gpuexec.Config    // as cpu, where there is one
	vendor  *cublaslt.Library // of products on it; nil: none

	hostAsked   bool // for a host pool, whatever became of it
	cacheTokens int  // of a request that the cache holds
}

// Setting is a field with the value in force.
type Setting struct {
	Name  string `json:"name"`
	Value any    `json:"value"` // nil: none
	From  string `json:"from"`  // the place that gave it, "default", "not given", or what it follows from
	Idle  bool   `json:"idle"`  // it has no effect where the engine runs
}

// Text is the value as files and flags have it.
func (s Setting) Text() string { return format(s.Value) }

// Settings are all fields, in the order of Fields.
func (r *Resolved) Settings() []Setting {
	list := make([]Setting, len(fields))
	for i := range fields {
		f := &fields[i]
		list[i] = Setting{Name: f.Name, Value: f.inForce(&r.Config), From: cmp.Or(r.from[f.Name], "not given"), Idle: r.idle(f)}
	}
	return list
}

// Resolve decides every field and plans the memory, without reading the weights.
// cfg stays as it is. Errors wrap ErrConfig, or say what is wrong with the
// checkpoint. A seed that is not given is drawn anew by each call.
func Resolve(cfg Config) (*Resolved, error) {
	return resolve(cfg, memory{cpuexec.MemoryLimit(), cpuexec.Resident()})
}

// resolveOn decides every field for a device.
func resolveOn(cfg Config, has memory, on choice) (*Resolved, error) {
	if cfg.Checkpoint == nil && cfg.Executor == nil {
		return nil, fmt.Errorf("%w: neither Checkpoint nor Executor is set", ErrConfig)
	}
	if cfg.Record != nil && cfg.Executor != nil {
		return nil, fmt.Errorf("%w: Record needs weights that the engine knows: leave Executor or Record out", ErrConfig)
	}
	if cfg.Profile != nil && (cfg.Executor != nil || on.gpu != nil) {
		return nil, &notOnGPU{why: "a profile is of the CPU executor's steps", do: "leave the profile out"}
	}
	r := &Resolved{Config: cfg, Notices: slices.Clone(cfg.from.notes), given: map[string]string{}, from: map[string]string{}, gpu: on.gpu}
	if err := r.takeGiven(); err != nil {
		return nil, err
	}
	r.locate(on)
	r.follow()
	if err := r.followDevice(); err != nil {
		return nil, err
	}
	if err := r.divide(); err != nil {
		return nil, err
	}
	if err := r.checkProcessors(); err != nil {
		return nil, err
	}
	if err := r.size(has); err != nil {
		return nil, err
	}
	for i := range fields {
		if f := &fields[i]; r.given[f.Name] != "" && !cfg.from.silent[f.Name] && f.Name != on.told && r.idle(f) {
			r.notice("%s (%s) has no effect here: it acts %s", f.Name, r.given[f.Name], f.Acts)
		}
	}
	return r, nil
}

func (r *Resolved) size(has memory) error {
	if r.Config.Executor != nil {
		return r.sizeForExecutor()
	}
	return r.sizeFromMemory(has)
}

// theProgram is where values come from that no source has brought.
const theProgram = "the program"

// takeGiven checks what is given, notes where it came from, and fills in the
// defaults that follow from nothing.
func (r *Resolved) takeGiven() error {
	for i := range fields {
		f := &fields[i]
		v := f.at(&r.Config)
		got := v.get()
		if err := f.check(&r.Config); err != nil {
			return f.wrong(format(got), err)
		}
		switch {
		case got != nil:
			r.given[f.Name] = theProgram
			if where := r.Config.from.by[f.Name]; where != "" {
				r.given[f.Name] = where
			}
			r.from[f.Name] = r.given[f.Name]
		case f.Default != "":
			r.from[f.Name] = "default"
			if err := v.set(f.Default); err != nil {
				return f.wrong(f.Default, err)
			}
			if where := r.Config.from.by[f.Name]; where != "" && v.get() == nil {
				r.from[f.Name] = where // it was given as the zero that it is by default
			}
		}
	}
	return nil
}

// follow decides what follows from other fields alone.
func (r *Resolved) follow() {
	c := &r.Config
	if c.SafetyMargin == nil {
		margin := 0.15
		if c.SchedulerType == "prefill_first" {
			margin = 0
		}
		c.SafetyMargin, r.from["safety_margin"] = &margin, "scheduler_type "+c.SchedulerType
	}
	if !*c.PerRequestProcessors {
		r.notice("per_request_processors is false: requests may bring their own sampling all the same")
	}
	for c.Seed == 0 {
		c.Seed, r.from["seed"] = rand.Uint64(), "random"
	}
	r.tune()
}

// locate notes where is computed.
func (r *Resolved) locate(on choice) {
	switch {
	case r.Config.Executor != nil:
		r.from["device"] = "the executor's"
		return
	case on.because != "":
		r.from["device"] = on.because
	}
	r.Config.Device = on.device
}

// checkProcessors refuses a model that recommends sampling which the engine lacks,
// if it must not go on without.
func (r *Resolved) checkProcessors() error {
	if *r.Config.DropUnsupportedProcessors || r.Config.Checkpoint == nil {
		return nil
	}
	if missing := Unsupported(r.Config.Checkpoint.Generation); len(missing) > 0 {
		return fmt.Errorf("%w: the model recommends %s, which is not implemented, and drop_unsupported_processors is false", ErrConfig, alternatives(missing))
	}
	return nil
}

// idle says that a field has no effect where the engine runs.
func (r *Resolved) idle(f *Field) bool {
	switch f.Acts {
	case OwnExecutor:
		return r.Config.Executor != nil
	case OnCPU:
		return r.Config.Executor != nil || r.gpu != nil
	case OnGPU:
		return r.gpu == nil
	case Nowhere, AmongGPUs:
		return true
	case AmongRanks:
		return r.Config.TensorParallelSize == 1
	case WithAdapters:
		return r.Config.MaxAdapters == 0
	case WithIntegers:
		return !r.int8() && r.gpu == nil
	case WithOffload:
		return !r.hostAsked
	}
	return false
}

func (r *Resolved) notice(format string, args ...any) {
	r.Notices = append(r.Notices, fmt.Sprintf(format, args...))
}
