package weights

import (
	"fmt"
	"strings"

	"github.com/cbactor/cbactor/model"
)

// Manifest says what an update consists of, before any of it arrives.
//
// A tensor is named as in the Hugging Face checkpoint. Where the model has q_proj,
// k_proj and v_proj, or gate_proj and up_proj, one qkv_proj or gate_up_proj with
// their rows one after the other, as Phi-3 has them itself, may stand for them. Where
// the head is the embedding, lm_head.weight may be sent besides and must equal it.
//
// A tensor that changes in a few places may be sent as two: its name with
// ".indices" after it, the ascending places in the tensor as a flat row-major list
// (I32, shape [n]), and with ".values" the new numbers there (shape [n], in the
// type that the base stores). This is the sparse form of
// github.com/huggingface/trl/pull/5417.
type Manifest struct {
	Tensors []Entry
	Partial bool   // tensors that are not listed stay those of the base
	Digest  Digest // WholeDigest of the tensors as sent; zero: not checked
	Result  Digest // Set.Digest of the set that comes out; zero: not checked
}

// Entry is one tensor as it is sent.
type Entry struct {
	Name   string
	DType  string // as safetensors spells it: F32, F16 or BF16, and I32 for indices
	Shape  []int
	Digest Digest // of its bytes; zero: not checked
}

// The two tensors of a sparse update are called by these.
const (
	indicesSuffix = ".indices"
	valuesSuffix  = ".values"
	indexBytes    = 4
)

// sparseTarget is the tensor that a half of a sparse update belongs to.
func sparseTarget(name string) (target string, sparse bool) {
	if target, sparse = strings.CutSuffix(name, indicesSuffix); !sparse {
		target, sparse = strings.CutSuffix(name, valuesSuffix)
	}
	return target, sparse
}

// floatType reads the name of a type that weights may be sent in.
func floatType(name, dtype string) (model.DType, error) {
	for _, t := range []model.DType{model.F32, model.F16, model.BF16} {
		if t.String() == dtype {
			return t, nil
		}
	}
	return model.Invalid, fmt.Errorf("%w: %.80q is %.40q; send F32, F16 or BF16", ErrDType, name, dtype)
}

// head is the output head, embedding what it is when it is tied.
const (
	head      = "lm_head.weight"
	embedding = "model.embed_tokens.weight"
)

// fused are names that stand for several, whose rows follow each other in this order.
var fused = []struct {
	whole string
	parts []string
}{
	{"self_attn.qkv_proj.", []string{"self_attn.q_proj.", "self_attn.k_proj.", "self_attn.v_proj."}},
	{"mlp.gate_up_proj.", []string{"mlp.gate_proj.", "mlp.up_proj."}},
}

// parts are the names that a name stands for: itself, unless it is a fused one.
func parts(name string) []string {
	for _, f := range fused {
		before, after, ok := strings.Cut(name, f.whole)
		if !ok {
			continue
		}
		names := make([]string, len(f.parts))
		for i, p := range f.parts {
			names[i] = before + p + after
		}
		return names
	}
	return []string{name}
}
