package model

import "cmp"

// ropeByType reads one for each kind of attention, as Gemma 3 has them: rope_parameters by
// layer type, else rope_theta and rope_scaling for full attention and rope_local_base_freq
// for sliding.
func ropeByType(f *fields, c *Config, theta float64) {
	const local = 10000.0
	sliding := Rope{Kind: RopeDefault, Theta: value(f, "rope_local_base_freq", local)}
	c.SlidingRope = &sliding
	p := &fields{}
	if f.has("rope_parameters") {
		p = newFields(f.raw["rope_parameters"])
		f.err = cmp.Or(f.err, p.err)
	}
	if f.err != nil || f.has("rope_scaling") || !p.has(typeNames[Full]) && !p.has(typeNames[Sliding]) {
		c.Rope = f.rope(theta, c.MaxPosition, false)
		return
	}
	c.Rope = Rope{Kind: RopeDefault, Theta: theta}
	for _, one := range []struct {
		kind Attention
		into *Rope
	}{{Full, &c.Rope}, {Sliding, &sliding}} {
		if name := typeNames[one.kind]; p.has(name) {
			*one.into = f.ropeIn("rope_parameters: "+name, p.raw[name], one.into.Theta, c.MaxPosition, false)
		}
	}
}

// ropeOfPart reads that of Phi-3, which turns a part of each head, and has no other kinds
// than the plain one and longrope, which older files call su or yarn.
func ropeOfPart(f *fields, c *Config, theta float64) {
	c.Rope = f.rope(theta, c.MaxPosition, true)
	if c.Rope.Kind != RopeDefault {
		f.fail("%w: rope type %q of phi3 stands for longrope, which is not implemented", ErrUnsupported, c.Rope.Kind)
	}
}

// ropeOrYarn reads that of gpt-oss, which is stretched where the file says nothing.
func ropeOrYarn(f *fields, c *Config, theta float64) {
	if f.ropeObject() == "" {
		c.Rope = Rope{Kind: RopeYarn, Theta: value(f, "rope_theta", theta), Factor: 32, OriginalMaxPosition: 4096, BetaFast: 32, BetaSlow: 1}
		return
	}
	c.Rope = f.rope(theta, c.MaxPosition, false)
}

// partialRotary reads which part of a head is turned.
var partialRotary = setting{
	names: []string{"partial_rotary_factor"},
	read: func(f *fields, c *Config) {
		part := value(f, "partial_rotary_factor", 1.0)
		if object := f.ropeObject(); object != "" {
			r := newFields(f.raw[object])
			part = value(r, "partial_rotary_factor", part)
			f.err = cmp.Or(f.err, r.err)
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
