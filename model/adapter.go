package model

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// ErrAdapter means that an adapter does not fit the model.
var ErrAdapter = errors.New("adapter does not fit")

// Adapter is what a low-rank adapter (LoRA, Hu et al. 2021) adds to linear layers
// of a model: y = W*x + Scale * B*(A*x).
type Adapter struct {
	Parts []AdapterPart // in any order, each module once
}

// AdapterPart belongs to one linear layer.
type AdapterPart struct {
	Module string    // "model.layers.0.self_attn.q_proj"
	Rank   int       // at least 1
	Scale  float64   // alpha/rank, or alpha/sqrt(rank)
	A      []float32 // [rank][in]
	B      []float32 // [out][rank]
}

// AdapterModules are an adapter's parts, by module.
type AdapterModules map[string]*AdapterPart

// ByModule are the parts of an adapter that was checked.
func (a *Adapter) ByModule() AdapterModules {
	list := AdapterModules{}
	for i := range a.Parts {
		list[a.Parts[i].Module] = &a.Parts[i]
	}
	return list
}

// Of is the part for a module of a layer (as Weight has them) with so many inputs and outputs;
// nil: none. What is added to a tensor of several modules is cut, with the same A for each.
func (l AdapterModules) Of(c *Config, layer int, module string, inputs, outputs int) *AdapterPart {
	at := c.Weight(layer, module)
	whole := l[strings.TrimSuffix(at.Tensor, ".weight")]
	if whole == nil {
		return nil
	}
	part := *whole
	part.A = whole.inputs(at.From, inputs)
	part.B = whole.B[at.First*whole.Rank:][:outputs*whole.Rank]
	return &part
}

// inputs is A for n inputs from one on.
func (p *AdapterPart) inputs(from, n int) []float32 {
	all := len(p.A) / p.Rank
	if all == n {
		return p.A
	}
	list := make([]float32, 0, n*p.Rank)
	for at := from; at < len(p.A); at += all {
		list = append(list, p.A[at:at+n]...)
	}
	return list
}

// AdapterShapes are the linear layers that an adapter may add to, by module name, with
// their shapes [out, in]: those within the model's layers, not embedding and output head, nor
// experts and what chooses them.
func (c *Config) AdapterShapes() map[string][]int {
	shapes := map[string][]int{}
	for _, t := range c.Tensors() {
		if len(t.Shape) == 2 && strings.HasPrefix(t.Name, "model.layers.") && !c.ofExperts(t.Name) {
			shapes[strings.TrimSuffix(t.Name, ".weight")] = t.Shape
		}
	}
	return shapes
}

// ofExperts tells that a tensor belongs to a mixture of experts.
func (c *Config) ofExperts(name string) bool {
	return c.MoE != nil && (strings.Contains(name, ".experts.") || strings.Contains(name, "."+c.Router()+"."))
}

// Check compares an adapter with the model and the largest rank that is allowed.
// Errors wrap ErrAdapter and name the module.
func (a *Adapter) Check(c *Config, maxRank int) error {
	shapes, seen := c.AdapterShapes(), map[string]bool{}
	if len(a.Parts) == 0 {
		return fmt.Errorf("%w: it adds to no module", ErrAdapter)
	}
	for i := range a.Parts {
		p := &a.Parts[i]
		shape := shapes[p.Module]
		switch {
		case shape == nil && c.ofExperts(p.Module+"."):
			return fmt.Errorf("%w: %.80q is of a mixture of experts, to which no adapter can add; train one for attention alone", ErrAdapter, p.Module)
		case shape == nil:
			return fmt.Errorf("%w: the model has no module %.80q that an adapter may add to", ErrAdapter, p.Module)
		case seen[p.Module]:
			return fmt.Errorf("%w: %s is there twice", ErrAdapter, p.Module)
		case p.Rank < 1 || p.Rank > maxRank:
			return fmt.Errorf("%w: %s has rank %d, must be from 1 to %d", ErrAdapter, p.Module, p.Rank, maxRank)
		case len(p.A) != p.Rank*shape[1] || len(p.B) != shape[0]*p.Rank:
			return fmt.Errorf("%w: %s has %d and %d numbers, rank %d for %v needs %d and %d",
				ErrAdapter, p.Module, len(p.A), len(p.B), p.Rank, shape, p.Rank*shape[1], shape[0]*p.Rank)
		case !finite(p.Scale) || !allFinite(p.A) || !allFinite(p.B):
			return fmt.Errorf("%w: %s has numbers that are not finite", ErrAdapter, p.Module)
		case !p.scales():
			return fmt.Errorf("%w: %s has a B that is not finite times its scale of %g, make the scale smaller", ErrAdapter, p.Module, p.Scale)
		}
		seen[p.Module] = true
	}
	return nil
}

// scales tells that Scale * B is finite as float32, which executors compute with.
func (p *AdapterPart) scales() bool {
	return !slices.ContainsFunc(p.B, func(v float32) bool { return !finite(float64(float32(p.Scale * float64(v)))) })
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func allFinite(values []float32) bool {
	return !slices.ContainsFunc(values, func(v float32) bool { return !finite(float64(v)) })
}
