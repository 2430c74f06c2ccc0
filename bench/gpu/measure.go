package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/gpuexec"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// plan is what is measured of each shape.
type plan struct {
	sizes
	times    int   // that a kernel runs in a graph
	batches  []int // sequences that decode
	context  int   // of each
	steps    int   // that a measurement decodes
	tokens   int   // of a step, at most
	generate int   // tokens of each request to the engine
}

// forGPU is for a GPU, forEmulator for an emulated one.
var (
	forGPU      = plan{sizes: whole, times: 32, batches: []int{1, 32, 256}, context: 1024, steps: 64, tokens: 2048, generate: 192}
	forEmulator = plan{sizes: little, times: 2, batches: []int{1, 3}, context: 40, steps: 4, tokens: 64, generate: 6}
)

// measure measures the device and then each shape, and calls done behind each of them with the report so
// far. The report has what could be measured.
func measure(d *cuda.Device, version int, names []string, p *plan, done func(*report) error) error {
	r := &report{Device: device{Name: d.Name, Capability: fmt.Sprintf("%d.%d", d.Major, d.Minor), Bytes: d.Memory, CUDA: fmt.Sprintf("%d.%d", version/1000, version%1000/10)}}
	data := randoms()
	err := onRig(d, data, p, func(g *rig) (err error) {
		r.Peaks, err = g.measurePeaks(p.sizes)
		return err
	})
	if err != nil {
		return fmt.Errorf("the device: %w", err)
	}
	if err := done(r); err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		one, err := p.measureShape(d, data, name, r.Peaks)
		if err != nil {
			errs = append(errs, fmt.Errorf("shape %s: %w", name, err))
		}
		r.Shapes = append(r.Shapes, one)
		errs = append(errs, done(r))
		runtime.GC() // the set of a shape is as large as its model
	}
	return errors.Join(errs...)
}

// onRig runs fn on a rig.
func onRig(d *cuda.Device, data []byte, p *plan, fn func(*rig) error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	g, err := newRig(d, data, p)
	if err == nil {
		err = fn(g)
	}
	return errors.Join(err, g.close())
}

// measureShape measures kernels, steps and the engine, and goes on where one of them cannot be measured.
func (p *plan) measureShape(d *cuda.Device, data []byte, name string, of peaks) (shapeReport, error) {
	s, m, err := shapeNamed(name)
	if err != nil {
		return shapeReport{}, err
	}
	r := shapeReport{Shape: s.name, Like: s.like, Context: p.context}
	var errs []error
	errs = append(errs, onRig(d, data, p, func(g *rig) error {
		b := &bench{rig: g, peaks: of, m: m, context: p.context}
		r.Kernels, err = b.measureKernels(p.batches, p.tokens)
		return err
	}))
	set, err := randomWeights(m, data)
	if err != nil {
		return r, errors.Join(append(errs, err)...)
	}
	for _, graphs := range []bool{false, true} {
		if err := p.measureSteps(d, m, set, graphs, &r); err != nil {
			errs = append(errs, fmt.Errorf("steps, graphs %t: %w", graphs, err))
		}
	}
	if r.Engine, err = p.throughEngine(d, m, set); err != nil {
		errs = append(errs, fmt.Errorf("engine: %w", err))
	}
	return r, errors.Join(errs...)
}

// executor makes one for the largest batch, whose sequences grow by so many tokens.
func (p *plan) executor(d *cuda.Device, m *model.Config, set *weights.Set, graphs bool, grown int, timed func(gpuexec.Timing)) (*gpuexec.Executor, error) {
	slots := slices.Max(p.batches)
	return gpuexec.New(gpuexec.Config{
		Device: d, Model: m, Weights: set, PageSize: page, MaxSlots: slots, MaxTokens: p.tokens, MaxContext: pagesOf(p.context, grown) * page,
		NumBlocks: slots * pagesOf(p.context, grown), Graphs: gpuexec.Graphs{Varlen: graphs, Decode: graphs}, Timed: timed,
	})
}

// measureSteps decodes with each number of sequences.
func (p *plan) measureSteps(d *cuda.Device, m *model.Config, set *weights.Set, graphs bool, r *shapeReport) (err error) {
	steps := &decoder{context: p.context, steps: p.steps}
	ex, err := p.executor(d, m, set, graphs, p.steps+warmups, func(t gpuexec.Timing) { steps.told = append(steps.told, t) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ex.Close()) }()
	steps.ex, steps.info = ex, ex.Info()
	for _, n := range p.batches {
		one, prefilled, err := steps.decode(n)
		if err != nil {
			return fmt.Errorf("%d sequences: %w", n, err)
		}
		one.Graphs = graphs
		one.OfNominal = read(m, n, p.context) / (max(one.BusyUs, 1e-6) * 1e-6) / (nominalTBs * 1e12)
		r.Steps, r.Prefill = append(r.Steps, one), max(r.Prefill, prefilled)
	}
	return nil
}

// throughEngine generates through an engine with each number of requests.
func (p *plan) throughEngine(d *cuda.Device, m *model.Config, set *weights.Set) ([]engineReport, error) {
	ex, err := p.executor(d, m, set, true, p.generate, nil)
	if err != nil {
		return nil, err
	}
	return measureEngine(ex, p.batches, p.context, p.generate)
}

// read is how many bytes a decoding step of n sequences must read: all matrices, and the cache.
func read(m *model.Config, n, context int) float64 {
	q, kv := m.Heads*m.HeadDim, m.KVHeads*m.HeadDim
	layer := m.Hidden*(q+2*kv) + q*m.Hidden + 3*m.Hidden*m.Intermediate
	return 2*(float64(m.Layers)*float64(layer)+float64(m.Vocab)*float64(m.Hidden)) + float64(n)*float64(context)*float64(m.Layers)*float64(4*kv)
}
