package model

import (
	"cmp"
	"fmt"
	"slices"
)

// originalMaxPosition is the field with the context that a stretched model was trained with.
const originalMaxPosition = "original_max_position_embeddings"

// ropeFields are the settings of each kind of rotary embedding, besides its
// name, rope_theta and partial_rotary_factor.
var ropeFields = map[RopeKind][]string{
	RopeDefault: {},
	RopeLinear:  {"factor"},
	RopeLlama3:  {"factor", "low_freq_factor", "high_freq_factor", originalMaxPosition},
	RopeYarn: {"factor", originalMaxPosition, "beta_fast", "beta_slow", "attention_factor",
		"mscale", "mscale_all_dim", "truncate", "finetuned"},
}

// besideRope is what says something of a rotary embedding outside of the object that has its
// settings.
type besideRope struct {
	theta       float64 // where the object has none
	maxPosition int
	original    int  // original_max_position_embeddings, which goes before that of the object; 0: none
	partial     bool // a part of a head may be turned
}

// rope reads rope_parameters (Transformers 5) or rope_theta and rope_scaling (before), where
// "type" is an older word for "rope_type". beside.theta is for a file that has none.
func (f *fields) rope(beside besideRope) Rope {
	beside.theta = value(f, "rope_theta", beside.theta)
	name, object := f.ropeObject()
	if name == "" {
		return Rope{Kind: RopeDefault, Theta: beside.theta}
	}
	if f.has(originalMaxPosition) && slices.Contains(ropeFields[ropeKind(object)], originalMaxPosition) {
		beside.original = f.size(originalMaxPosition, maxContext, nil)
	}
	return f.ropeIn(name, object, beside)
}

// ropeObject is the field that has the settings, "": none. As in the reference, rope_scaling
// goes before rope_parameters, unless it is empty.
func (f *fields) ropeObject() (string, *fields) {
	const old, now = "rope_scaling", "rope_parameters"
	if scaling := f.object(old); len(scaling.raw) > 0 {
		return old, scaling
	}
	if f.has(now) {
		return now, f.object(now)
	}
	return "", nil
}

// ropeIn reads one from an object, which is called so in errors.
func (f *fields) ropeIn(name string, r *fields, beside besideRope) Rope {
	rope := ropeOf(r, beside)
	if p := value(r, "partial_rotary_factor", 1.0); p != 1 && !beside.partial {
		r.fail("%w: partial_rotary_factor %g is not implemented", ErrUnsupported, p)
	}
	if r.err != nil {
		f.fail("%s: %w", name, r.err)
	}
	return rope
}

func ropeKind(r *fields) RopeKind {
	return RopeKind(value(r, "rope_type", value(r, "type", string(RopeDefault))))
}

func ropeOf(r *fields, beside besideRope) Rope {
	kind := ropeKind(r)
	known, ok := ropeFields[kind]
	if !ok {
		r.fail("%w: rope type %.80q is not known", ErrUnsupported, string(kind))
		return Rope{}
	}
	names := make([]string, 0, len(r.raw))
	for name := range r.raw {
		names = append(names, name)
	}
	slices.Sort(names) // the same message every time
	for _, name := range names {
		common := name == "rope_type" || name == "type" || name == "rope_theta" || name == "partial_rotary_factor"
		if !common && !slices.Contains(known, name) && r.has(name) {
			r.fail("%w: rope setting %.80q of type %q is not known", ErrUnsupported, name, kind)
		}
	}
	rope := Rope{Kind: kind, Theta: value(r, "rope_theta", beside.theta)}
	if slices.Contains(known, "factor") {
		rope.Factor = value(r, "factor", 0.0)
	}
	if slices.Contains(known, originalMaxPosition) {
		rope.OriginalMaxPosition = cmp.Or(beside.original, value(r, originalMaxPosition, beside.maxPosition))
	}
	switch kind {
	case RopeLlama3:
		rope.LowFreqFactor = value(r, "low_freq_factor", 0.0)
		rope.HighFreqFactor = value(r, "high_freq_factor", 0.0)
	case RopeYarn:
		rope.readYarn(r, beside.maxPosition)
	}
	return rope
}

// readYarn reads what yarn has of its own. As in the reference, a factor of null is how many
// times the context is as long as the original one, and 0 stands for the usual borders.
func (r *Rope) readYarn(f *fields, maxPosition int) {
	if _, there := f.raw["factor"]; there && !f.has("factor") {
		r.Factor = float64(maxPosition) / float64(max(r.OriginalMaxPosition, 1))
	}
	r.BetaFast = cmp.Or(value(f, "beta_fast", 0.0), 32)
	r.BetaSlow = cmp.Or(value(f, "beta_slow", 0.0), 1)
	r.AttentionFactor = value(f, "attention_factor", 0.0)
	if f.has("attention_factor") && r.AttentionFactor == 0 {
		f.fail("%w: attention_factor is 0, want more, or null for the computed one", ErrConfig)
	}
	r.MScale = value(f, "mscale", 0.0)
	r.MScaleAll = value(f, "mscale_all_dim", 0.0)
	r.Truncate = value(f, "truncate", true)
}

// validate checks the numbers of a rotary embedding over so many dimensions of a head.
func (r *Rope) validate(dim int) error {
	bad := func(name string, v float64) error {
		return fmt.Errorf("%w: rope %s of type %q is %g", ErrConfig, name, r.Kind, v)
	}
	if _, ok := ropeFields[r.Kind]; !ok {
		return fmt.Errorf("%w: rope type %.80q is not known", ErrUnsupported, string(r.Kind))
	}
	if !(r.Theta > 1 && r.Theta <= 1e12) {
		return bad("theta", r.Theta)
	}
	if r.Kind != RopeDefault && !(r.Factor > 0 && r.Factor <= 1e6) {
		return bad("factor", r.Factor)
	}
	if (r.Kind == RopeLlama3 || r.Kind == RopeYarn) && (r.OriginalMaxPosition < 1 || r.OriginalMaxPosition > maxContext) {
		return bad(originalMaxPosition, float64(r.OriginalMaxPosition))
	}
	if r.Kind == RopeLlama3 && !(r.LowFreqFactor > 0 && r.HighFreqFactor > r.LowFreqFactor && r.HighFreqFactor < 1e6) {
		return bad("high_freq_factor", r.HighFreqFactor)
	}
	if r.Kind == RopeYarn {
		if err := r.validateYarn(bad); err != nil {
			return err
		}
	}
	if n := len(r.FreqDivisors); n != 0 && n != dim/2 {
		return fmt.Errorf("%w: %d rope frequency divisors, want %d", ErrConfig, n, dim/2)
	}
	for _, d := range r.FreqDivisors {
		if !(d > 0 && d <= 1e12) {
			return bad("frequency divisor", float64(d))
		}
	}
	return nil
}

func (r *Rope) validateYarn(bad func(string, float64) error) error {
	switch {
	case !(r.BetaSlow > 0 && r.BetaSlow <= 1e6):
		return bad("beta_slow", r.BetaSlow)
	case !(r.BetaFast >= r.BetaSlow && r.BetaFast <= 1e6):
		return bad("beta_fast", r.BetaFast)
	case !(r.AttentionFactor >= 0 && r.AttentionFactor <= 1e3):
		return bad("attention_factor", r.AttentionFactor)
	case !(r.MScale >= 0 && r.MScale <= 1e3):
		return bad("mscale", r.MScale)
	case !(r.MScaleAll >= 0 && r.MScaleAll <= 1e3):
		return bad("mscale_all_dim", r.MScaleAll)
	}
	return nil
}
