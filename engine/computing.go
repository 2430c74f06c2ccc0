package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// computeFor is what a model is computed in that is stored as a type, where nothing is
// said. f16 has more bits than bf16 keeps, so that is widened; floats of 4 and 8 bits have
// fewer.
func computeFor(stored model.DType) cpuexec.Compute {
	switch stored {
	case model.BF16, model.MXFP4, model.FP8:
		return cpuexec.ComputeBF16
	}
	if stored.Integer() {
		return cpuexec.ComputeInt8
	}
	return cpuexec.ComputeF32
}

// followStored decides what the CPU executor computes in and stores, from what is given
// and how the model is stored.
func (r *Resolved) followStored() error {
	c := &r.Config
	m := c.Checkpoint.Config
	if auto(c.Attention) {
		c.Attention, r.from["attention"] = string(cpuexec.Tiled), "the fused kernel"
	}
	if auto(c.Compute) {
		c.Compute, r.from["compute"] = string(computeFor(m.Stored)), "the model is stored as "+m.Stored.String()
	}
	if auto(c.Quantize) {
		delete(r.given, "quantize")
		c.Quantize, r.from["quantize"] = "", "compute "+c.Compute
		if r.int8() {
			c.Quantize, r.from["quantize"] = string(cpuexec.QuantizeQ8), "the most exact"
		}
	}
	if auto(c.KVDType) {
		c.KVDType, r.from["kv_dtype"] = c.Compute, "compute "+c.Compute
		if !cpuexec.KVType(c.KVDType).Fits(m.HeadDim) {
			c.KVDType, r.from["kv_dtype"] = string(cpuexec.KVBF16), fmt.Sprintf("heads of %d elements do not fit int8", m.HeadDim)
		}
	}
	if !cpuexec.KVType(c.KVDType).Fits(m.HeadDim) {
		return fmt.Errorf("%w: kv_dtype is %s (%s), which heads of %d elements do not fit: take bf16", ErrConfig, c.KVDType, r.given["kv_dtype"], m.HeadDim)
	}
	r.noticeLosses()
	return nil
}

func auto(word string) bool { return word == "" || word == "auto" }

// int8 says that products are computed in it.
func (r *Resolved) int8() bool { return r.Config.Compute == string(cpuexec.ComputeInt8) }

// quantized is what floats become; "": they stay floats.
func (r *Resolved) quantized() string {
	if r.int8() || r.gpu != nil {
		return r.Config.Quantize
	}
	return ""
}

// noticeLosses says which weights are computed as less than they are stored as.
func (r *Resolved) noticeLosses() {
	c, floats := &r.Config, 0
	column := c.Quantize == string(cpuexec.QuantizeColumn)
	count := map[model.DType]int{}
	tensors := c.Checkpoint.Tensors()
	computing := cpuexec.Config{Model: c.Checkpoint.Config, Stored: tensors, Compute: cpuexec.Compute(c.Compute), Quantize: cpuexec.Quantize(c.Quantize)}
	anew := map[model.DType]int{}
	for _, stored := range computing.Requantised() {
		anew[stored]++
	}
	for _, t := range tensors {
		if multiplied(c.Checkpoint.Config, t) {
			count[t.DType]++
		}
	}
	for _, stored := range slices.Sorted(maps.Keys(count)) {
		n := count[stored]
		if !stored.Integer() {
			floats += n
		}
		switch loses := r.loses(stored); {
		case loses && r.int8():
			r.notice("compute is int8: %s quantised to %s", matrices(n, stored), c.Quantize)
		case loses && r.quantized() != "" && !stored.Integer():
			r.notice("quantize is %s: %s quantised", c.Quantize, matrices(n, stored))
		case loses:
			r.notice("compute is bf16: %s rounded", matrices(n, stored))
		case anew[stored] > 0 && column:
			r.notice("quantize is column: %s quantised anew", matrices(anew[stored], stored))
		case anew[stored] > 0:
			r.notice("compute is int8: %s quantised to q8 with others of the same layer", matrices(anew[stored], stored))
		}
	}
	if asked := r.given["quantize"]; asked != "" && r.quantized() != "" && floats == 0 && !column {
		r.notice("quantize is %s (%s) without effect: no matrix of the model is stored as floats", c.Quantize, asked)
	}
}

// noticeSent says, once, that weights which were sent are computed as less than they are:
// matrices stay in the formats that those of the checkpoint have.
func (e *Engine) noticeSent(set *weights.Set) {
	if e.lost {
		return
	}
	count := map[model.DType]int{}
	for _, was := range e.maker.stored {
		t, ok := set.Tensor(was.Name)
		if ok && t.DType != was.DType && multiplied(e.model, was) && e.maker.loses(was.DType, t.DType) {
			count[t.DType]++
		}
	}
	for _, sent := range slices.Sorted(maps.Keys(count)) {
		e.lost = true
		e.options.Log.Warn().Str("version", set.Version).Msgf("compute is %s: %s computed in the format of what was there before", e.info.Compute, matrices(count[sent], sent))
	}
}

// loses says that a matrix of the checkpoint, stored as a type, is computed as less than it is.
func (r *Resolved) loses(stored model.DType) bool {
	if r.gpu != nil {
		return r.gpuLoses(stored, stored)
	}
	return loses(cpuexec.Compute(r.Config.Compute), stored)
}

// loses says that a CPU computes a matrix of a type as less than it is.
func loses(compute cpuexec.Compute, stored model.DType) bool {
	switch compute {
	case cpuexec.ComputeBF16:
		return stored != model.BF16 && stored != model.MXFP4
	case cpuexec.ComputeInt8:
		return !stored.Integer()
	}
	return false
}

// multiplied says that a tensor is a matrix of a product: rows of an embedding that is no
// head are looked up as they are stored, and what chooses experts is computed in float32.
func multiplied(m *model.Config, t model.Tensor) bool {
	if m.MoE != nil && strings.HasSuffix(t.Name, "."+m.Router()+".weight") {
		return false
	}
	return len(t.Shape) > 1 && !strings.HasSuffix(t.Name, "_bias") && (m.TiedHead || t.Name != "model.embed_tokens.weight")
}

// matrices are so many of a type, with the verb.
func matrices(n int, stored model.DType) string {
	if n == 1 {
		return fmt.Sprintf("1 matrix stored as %s is", stored)
	}
	return fmt.Sprintf("%d matrices stored as %s are", n, stored)
}
