package model

import (
	"cmp"
	"encoding/json"
	"maps"
)

// ropeByType reads one for each kind of attention, as Gemma 3 has them: rope_parameters by
// layer type, of which rope_scaling changes the one of full attention, with rope_theta and
// rope_local_base_freq for those that have no base. As in the reference, what rope_parameters
// has beside the types says nothing but whether yarn rounds its borders, for both.
func ropeByType(f *fields, c *Config, theta float64) {
	const parameters, local = "rope_parameters", 10000.0
	types := f.object(parameters)
	full, sliding := f.ropeOfType(types, Full), f.ropeOfType(types, Sliding)
	if scaling := f.object("rope_scaling"); f.has("rope_scaling") {
		if f.has(parameters) && !types.has(typeNames[Full]) {
			f.fail("%w: rope_scaling is there, and rope_parameters without %s", ErrConfig, typeNames[Full])
		}
		maps.Copy(full.raw, scaling.raw)
	}
	beside := besideRope{theta: value(f, "rope_theta", theta), maxPosition: c.MaxPosition}
	c.Rope = f.ropeIn("rope of "+typeNames[Full], full, beside)
	beside.theta = value(f, "rope_local_base_freq", local)
	of := f.ropeIn("rope of "+typeNames[Sliding], sliding, beside)
	c.SlidingRope = &of
	for _, r := range []*Rope{&c.Rope, c.SlidingRope} {
		r.Truncate = r.Kind == RopeYarn && value(types, "truncate", true)
	}
	if types.err != nil {
		f.fail("%s: %w", parameters, types.err)
	}
}

// ropeOfType are the settings of a type of layers, the plain ones where there are none.
func (f *fields) ropeOfType(types *fields, kind Attention) *fields {
	if name := typeNames[kind]; types.has(name) {
		return types.object(name)
	}
	return &fields{raw: map[string]json.RawMessage{"rope_type": json.RawMessage(`"default"`)}}
}

// ropeOfPart reads that of Phi-3, which turns a part of each head, and has no other kinds
// than the plain one and longrope, which older files call su or yarn.
func ropeOfPart(f *fields, c *Config, theta float64) {
	c.Rope = f.rope(besideRope{theta: theta, maxPosition: c.MaxPosition, partial: true})
	if c.Rope.Kind != RopeDefault {
		f.fail("%w: rope type %q of phi3 stands for longrope, which is not implemented", ErrUnsupported, c.Rope.Kind)
	}
}

// ropeOrYarn reads that of gpt-oss, which is stretched where the file says nothing.
func ropeOrYarn(f *fields, c *Config, theta float64) {
	if name, _ := f.ropeObject(); name == "" {
		f.raw["rope_parameters"] = json.RawMessage(`{"rope_type": "yarn", "factor": 32, "original_max_position_embeddings": 4096, "truncate": false}`)
	}
	c.Rope = f.rope(besideRope{theta: theta, maxPosition: c.MaxPosition})
}

// partialRotary reads which part of a head is turned.
var partialRotary = setting{
	names: []string{"partial_rotary_factor"},
	read: func(f *fields, c *Config) {
		part := value(f, "partial_rotary_factor", 1.0)
		if name, object := f.ropeObject(); name != "" {
			part = value(object, "partial_rotary_factor", part)
			f.err = cmp.Or(f.err, object.err)
		}
		if !(part > 0 && part <= 1) {
			f.fail("%w: partial_rotary_factor is %g, want more than 0 and at most 1", ErrConfig, part)
			return
		}
		n := int(float64(c.HeadDim) * part)
		if n < 2 {
			f.fail("%w: partial_rotary_factor %g leaves nothing to turn of heads of %d", ErrConfig, part, c.HeadDim)
		}
		if n != c.HeadDim {
			c.RotaryDim = n
		}
	},
	write: func(c *Config, out map[string]any) {
		out["partial_rotary_factor"] = 1.0
		if c.RotaryDim > 0 {
			out["partial_rotary_factor"] = float64(c.RotaryDim) / float64(c.HeadDim)
		}
	},
}
