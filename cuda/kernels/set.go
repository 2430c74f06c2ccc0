package kernels

import (
	"fmt"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/cubin"
)

// Set is the kernels, loaded on a device.
type Set struct {
	module    *cuda.Module
	functions [count]*cuda.Function
	tiles     map[Shape][len(RowEnds)]int // that were chosen
}

// Load loads the kernels for the context's device. cubin.ErrDevice: there are none for it.
func Load(ctx *cuda.Context, device *cuda.Device) (*Set, error) {
	image, err := cubin.For(device.Major, device.Minor)
	if err != nil {
		return nil, err
	}
	return load(ctx, image)
}

func load(ctx *cuda.Context, image []byte) (*Set, error) {
	module, err := ctx.Load(image)
	if err != nil {
		return nil, fmt.Errorf("loading the kernels: %w", err)
	}
	s := &Set{module: module}
	for i, name := range names {
		if s.functions[i], err = module.Function(name); err != nil {
			if closing := module.Close(); closing != nil {
				err = fmt.Errorf("%w (and unloading it: %w)", err, closing)
			}
			return nil, err
		}
	}
	return s, nil
}

// Close unloads the kernels, which run no more.
func (s *Set) Close() error { return s.module.Close() }

// Kernels, by their places in a Set.
const (
	embed = iota // by Format, as the products
	embedQ8
	embedQ4
	rmsNorm
	residual
	shape
	qkv
	gemm16
	gemm64
	gemm128
	gemmQ8x16
	gemmQ8x64
	gemmQ8x128
	gemmQ4x16
	gemmQ4x64
	gemmQ4x128
	gate16
	gate64
	gate128
	gateQ8x16
	gateQ8x64
	gateQ8x128
	gateQ4x16
	gateQ4x64
	gateQ4x128
	gateParts
	loraDown
	loraUp
	attention64
	attention128
	attention256
	attentionMerge
	gateExperts16
	gateExperts64
	gateExpertsQ8x16
	gateExpertsQ8x64
	gateExpertsQ4x16
	gateExpertsQ4x64
	gemmExperts16
	gemmExperts64
	gemmExpertsQ8x16
	gemmExpertsQ8x64
	gemmExpertsQ4x16
	gemmExpertsQ4x64
	route
	sortExperts
	mix
	best
	draw
	keep
	score
	patch
	count
)

var names = [count]string{
	"embed", "embed_q8", "embed_q4", "rms_norm", "residual", "shape", "qkv",
	"gemm_16", "gemm_64", "gemm_128",
	"gemm_q8_16", "gemm_q8_64", "gemm_q8_128",
	"gemm_q4_16", "gemm_q4_64", "gemm_q4_128",
	"gate_16", "gate_64", "gate_128",
	"gate_q8_16", "gate_q8_64", "gate_q8_128",
	"gate_q4_16", "gate_q4_64", "gate_q4_128", "gate_parts",
	"lora_down", "lora_up",
	"attention_64", "attention_128", "attention_256", "attention_merge",
	"gate_experts_16", "gate_experts_64",
	"gate_experts_q8_16", "gate_experts_q8_64",
	"gate_experts_q4_16", "gate_experts_q4_64",
	"gemm_experts_16", "gemm_experts_64",
	"gemm_experts_q8_16", "gemm_experts_q8_64",
	"gemm_experts_q4_16", "gemm_experts_q4_64",
	"route", "sort_experts", "mix", "best", "draw", "keep", "score", "patch",
}

// rowThreads computes a row: ROW_THREADS of the source.
const rowThreads = 256

// rows launches a kernel with a block for each row.
func (s *Set) rows(stream *cuda.Stream, kernel, rows int, args ...cuda.Arg) error {
	return s.functions[kernel].Launch(stream, grid(rows, 1, 1), grid(rowThreads, 1, 1), 0, args...)
}

func grid(x, y, z int) cuda.Grid { return cuda.Grid{X: uint32(x), Y: uint32(y), Z: uint32(z)} }

// over is how many times of size are needed for n.
func over(n, size int) int { return (n + size - 1) / size }
