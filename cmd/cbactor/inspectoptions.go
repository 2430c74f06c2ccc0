package main

import (
	"fmt"
	"strings"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
	"github.com/cbactor/cbactor/model"
)

// option is a property of a forward pass in words.
type option struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// optionsOf are the options of a model, those that it does without left out.
func optionsOf(m *model.Config) []option {
	var list []option
	add := func(name, value string) {
		if value != "" {
			list = append(list, option{name, value})
		}
	}
	add("window", windowOf(m))
	add("positions", ropeOf(m))
	add("queries and keys", qkOf(m))
	add("mlp", mlpOf(m))
	add("experts", expertsOf(m))
	add("norms", normsOf(m))
	add("biases", biasesOf(m))
	add("scales", scalesOf(m))
	add("head", map[bool]string{true: "the embedding", false: "its own"}[m.TiedHead])
	return list
}

// windowOf says which layers see how much.
func windowOf(m *model.Config) string {
	sliding := 0
	for _, a := range m.Attn {
		if a == model.Sliding {
			sliding++
		}
	}
	if sliding == 0 {
		return ""
	}
	return fmt.Sprintf("%d tokens in %s", m.Window, layersOf(sliding, m.Layers))
}

// layersOf is a number of layers among all.
func layersOf(n, all int) string {
	if n == all {
		return "every layer"
	}
	return fmt.Sprintf("%d of %s", n, words.Count(all, "layer"))
}

func ropeOf(m *model.Config) string {
	s := rope(&m.Rope)
	if m.SlidingRope != nil {
		s += "; of sliding layers " + rope(m.SlidingRope)
	}
	if m.RotaryDim > 0 && m.RotaryDim < m.HeadDim {
		s += fmt.Sprintf("; the first %d of a head", m.RotaryDim)
	}
	if none := count(m.NoRope); none > 0 {
		s += "; none in " + layersOf(none, m.Layers)
	}
	return s
}

// rope is a rotary embedding in words.
func rope(r *model.Rope) string {
	s := fmt.Sprintf("rotary, base %g", r.Theta)
	if r.Kind != model.RopeDefault {
		s += fmt.Sprintf(", %s with factor %g", r.Kind, r.Factor)
	}
	if r.FreqDivisors != nil {
		s += ", with divisors of the file"
	}
	return s
}

func count(is []bool) int {
	n := 0
	for _, b := range is {
		if b {
			n++
		}
	}
	return n
}

func qkOf(m *model.Config) string {
	var parts []string
	switch m.QKNorm {
	case model.QKNormHead:
		parts = append(parts, "each head normalised")
	case model.QKNormWhole:
		parts = append(parts, "all heads normalised together")
	}
	if m.AttnScale != 0 {
		parts = append(parts, fmt.Sprintf("product times %g", m.AttnScale))
	}
	if m.AttnSoftcap != 0 {
		parts = append(parts, fmt.Sprintf("capped softly at %g", m.AttnSoftcap))
	}
	if m.Sinks {
		parts = append(parts, "with sinks")
	}
	return strings.Join(parts, ", ")
}

func mlpOf(m *model.Config) string {
	if m.MoE != nil && count(m.MoE.Dense) == 0 {
		return ""
	}
	return fmt.Sprintf("%d wide, gated by %s", m.Intermediate, gate(m.Activation))
}

func gate(a model.Activation) string {
	switch a {
	case model.GELUTanh:
		return "GELU"
	case model.ClampedSiLU:
		return "SiLU, clamped"
	}
	return "SiLU"
}

func expertsOf(m *model.Config) string {
	if m.MoE == nil {
		return ""
	}
	s := fmt.Sprintf("%d, each %d wide and gated by %s, %d for a token", m.MoE.Experts, m.MoE.Intermediate, gate(m.Activation), m.MoE.PerToken)
	if dense := count(m.MoE.Dense); dense > 0 {
		s += fmt.Sprintf("; none in %s", layersOf(dense, m.Layers))
	}
	return s
}

func normsOf(m *model.Config) string {
	place := "before attention and MLP"
	switch m.Norms {
	case model.NormAfter:
		place = "after attention and MLP"
	case model.NormAround:
		place = "before and after attention and MLP"
	}
	s := fmt.Sprintf("root mean square %s, epsilon %.4g", place, m.NormEps)
	if m.NormOffset != 0 {
		s += fmt.Sprintf(", weights plus %g", m.NormOffset)
	}
	return s
}

func biasesOf(m *model.Config) string {
	var parts []string
	if m.AttnBias {
		parts = append(parts, "queries, keys and values")
		if !m.OutNoBias {
			parts = append(parts, "output of attention")
		}
	}
	if m.MLPBias {
		parts = append(parts, "MLP")
	}
	if m.MoE != nil && m.MoE.RouterBias {
		parts = append(parts, "router and experts")
	}
	return strings.Join(parts, ", ")
}

func scalesOf(m *model.Config) string {
	var parts []string
	for _, x := range []struct {
		what string
		by   float64
	}{{"embeddings times", m.EmbedScale}, {"residuals times", m.ResidualScale}, {"logits times", m.LogitScale}, {"logits capped softly at", m.LogitSoftcap}} {
		if x.by != 0 && x.by != 1 {
			parts = append(parts, fmt.Sprintf("%s %g", x.what, x.by))
		}
	}
	return strings.Join(parts, ", ")
}
