package model

// typeNames are the kinds of attention as layer_types has them.
var typeNames = [...]string{Full: "full_attention", Sliding: "sliding_attention"}

// layerTypes reads layer_types; nil: the field is not there.
func layerTypes(f *fields, layers int) []Attention {
	list := values[string](f, "layer_types")
	if list == nil || f.err != nil {
		return nil
	}
	if len(list) != layers {
		f.fail("%w: layer_types has %d entries for %d layers", ErrConfig, len(list), layers)
		return nil
	}
	kinds := make([]Attention, layers)
	for l, name := range list {
		switch name {
		case typeNames[Full]:
		case typeNames[Sliding]:
			kinds[l] = Sliding
		default:
			f.fail("%w: layer type %.80q is not implemented", ErrUnsupported, name)
		}
	}
	return kinds
}

// slides gives the layers their kinds: those of layer_types, else what by says, Sliding
// for true. Where nothing slides there is no window.
func slides(f *fields, c *Config, window int, by func(layer int) bool) {
	kinds := layerTypes(f, c.Layers)
	some := false
	for l := range c.Attn {
		if kinds != nil {
			c.Attn[l] = kinds[l]
		} else if window > 0 && by(l) {
			c.Attn[l] = Sliding
		}
		some = some || c.Attn[l] == Sliding
	}
	switch {
	case !some:
	case window < 1 || window > maxContext:
		f.fail("%w: sliding_window is %d, want 1 to %d", ErrConfig, window, maxContext)
	default:
		c.Window = window
	}
}

// window reads sliding_window, null for none, which is 0; def is for a field that is not
// there.
func (f *fields) window(def int) int {
	if _, there := f.raw["sliding_window"]; !there {
		return def
	}
	window := value(f, "sliding_window", 0)
	if f.has("sliding_window") && window < 1 {
		f.fail("%w: sliding_window is %d, want 1 or more, or null for none", ErrConfig, window)
	}
	return window
}

func writeWindow(c *Config, out map[string]any) {
	out["sliding_window"], out["use_sliding_window"] = nil, c.Window > 0
	if c.Window > 0 {
		out["sliding_window"] = c.Window
	}
	list := make([]string, c.Layers)
	for l, kind := range c.Attn {
		list[l] = typeNames[kind]
	}
	out["layer_types"] = list
}

// windowOfAll has all layers slide, if there is a window.
func windowOfAll(def int) setting {
	return setting{
		names: []string{"sliding_window", "layer_types"},
		read:  func(f *fields, c *Config) { allSlide(f, c, f.window(def)) },
		write: writeWindow,
	}
}

// windowIfUsed is windowOfAll where use_sliding_window is true.
var windowIfUsed = setting{
	names: []string{"sliding_window", "use_sliding_window", "layer_types"},
	read:  func(f *fields, c *Config) { allSlide(f, c, f.usedWindow(4096)) },
	write: writeWindow,
}

// allSlide has all layers slide, or none where the window is 0. The reference does not look
// at layer_types of such a family, which therefore must say the same.
func allSlide(f *fields, c *Config, window int) {
	slides(f, c, window, func(int) bool { return true })
	for l, kind := range c.Attn {
		if (kind == Sliding) != (window > 0) {
			f.fail("%w: layer_types says %s of layer %d, where the window of all layers is %d", ErrUnsupported, typeNames[kind], l, window)
		}
	}
}

// usedWindow is sliding_window where use_sliding_window is true, else 0.
func (f *fields) usedWindow(def int) int {
	if !value(f, "use_sliding_window", false) {
		return 0
	}
	return f.window(def)
}

// windowOfLater has the layers from max_window_layers on slide, unless layer_types says
// otherwise.
func windowOfLater(def int) setting {
	return setting{
		names: []string{"sliding_window", "use_sliding_window", "max_window_layers", "layer_types"},
		read: func(f *fields, c *Config) {
			first := value(f, "max_window_layers", def)
			slides(f, c, f.usedWindow(4096), func(l int) bool { return l >= first })
		},
		write: writeWindow,
	}
}

// windowOfNoRope has the layers slide that turn nothing, unless layer_types says
// otherwise. It stands behind noRope.
var windowOfNoRope = setting{
	names: []string{"sliding_window", "use_sliding_window", "layer_types"},
	read: func(f *fields, c *Config) {
		slides(f, c, f.usedWindow(0), func(l int) bool { return c.NoRope[l] })
	},
	write: writeWindow,
}

// windowByType has the layers slide that layer_types says, else those of a pattern.
func windowByType(def int, pattern func(*fields) func(layer int) bool) setting {
	return setting{
		names: []string{"sliding_window", "layer_types", "sliding_window_pattern"},
		read:  func(f *fields, c *Config) { slides(f, c, f.window(def), pattern(f)) },
		write: writeWindow,
	}
}

// everyOther has the first of each two layers slide.
func everyOther(*fields) func(int) bool {
	return func(l int) bool { return l%2 == 0 }
}

// allButEvery has all layers slide but every sliding_window_pattern-th.
func allButEvery(f *fields) func(int) bool {
	every := value(f, "sliding_window_pattern", 6)
	if every < 1 {
		f.fail("%w: sliding_window_pattern is %d, want 1 or more", ErrConfig, every)
		every = 1
	}
	return func(l int) bool { return (l+1)%every != 0 }
}
