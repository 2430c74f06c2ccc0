package model

import (
	"errors"
	"maps"
	"reflect"
	"testing"
)

// Gemma 3 has a rotary embedding for each kind of layers. Each case was given to
// Gemma3TextConfig of Transformers 5.23.0, which answers so.
func TestRopeByType(t *testing.T) {
	type m = map[string]any
	plain := func(theta float64) Rope { return Rope{Kind: RopeDefault, Theta: theta} }
	linear := func(theta, factor float64) Rope { return Rope{Kind: RopeLinear, Theta: theta, Factor: factor} }
	yarn := func(theta float64, original int, truncate bool) Rope {
		return Rope{Kind: RopeYarn, Theta: theta, Factor: 4, OriginalMaxPosition: original, BetaFast: 32, BetaSlow: 1, Truncate: truncate}
	}
	by8, by4 := m{"rope_type": "linear", "factor": 8}, m{"rope_type": "yarn", "factor": 4}
	with := func(fields m, name string, v any) m {
		fields = maps.Clone(fields)
		fields[name] = v
		return fields
	}
	for name, test := range map[string]struct {
		fields        m
		full, sliding Rope
	}{
		"nothing":              {m{}, plain(1e6), plain(1e4)},
		"words of old":         {m{"rope_scaling": by8, "rope_theta": 5e5, "rope_local_base_freq": 1e3}, linear(5e5, 8), plain(1e3)},
		"nothing in it":        {m{"rope_scaling": m{}}, plain(1e6), plain(1e4)},
		"both scaled":          {m{"rope_parameters": m{"full_attention": with(by8, "rope_theta", 3e5), "sliding_attention": m{"rope_type": "linear", "factor": 2, "rope_theta": 2e4}}}, linear(3e5, 8), linear(2e4, 2)},
		"one":                  {m{"rope_parameters": m{"sliding_attention": m{"rope_type": "linear", "factor": 2}}}, plain(1e6), linear(1e4, 2)},
		"nulls":                {m{"rope_theta": 2e5, "rope_parameters": m{"full_attention": nil, "sliding_attention": nil}}, plain(2e5), plain(1e4)},
		"scaled besides":       {m{"rope_theta": 7e5, "rope_scaling": by8, "rope_parameters": m{"full_attention": m{"rope_type": "default"}, "sliding_attention": m{"rope_type": "default", "rope_theta": 2e4}}}, linear(7e5, 8), plain(2e4)},
		"base besides":         {m{"rope_scaling": with(by8, "rope_theta", 9e5), "rope_parameters": m{"full_attention": m{"rope_type": "default", "rope_theta": 3e5}}}, linear(9e5, 8), plain(1e4)},
		"flat":                 {m{"rope_parameters": with(by8, "rope_theta", 3e5)}, plain(1e6), plain(1e4)},
		"flat, base outside":   {m{"rope_theta": 2e5, "rope_parameters": with(by8, "rope_theta", 3e5)}, plain(2e5), plain(1e4)},
		"yarn":                 {m{"original_max_position_embeddings": 64, "rope_parameters": m{"full_attention": by4, "sliding_attention": with(with(by4, "truncate", false), "original_max_position_embeddings", 128)}}, yarn(1e6, 512, true), yarn(1e4, 128, true)},
		"yarn without borders": {m{"rope_parameters": m{"truncate": false, "full_attention": by4, "sliding_attention": m{"rope_type": "default"}}}, yarn(1e6, 512, false), plain(1e4)},
		"yarn of old":          {m{"original_max_position_embeddings": 64, "rope_scaling": by4}, yarn(1e6, 512, true), plain(1e4)},
	} {
		c := parseMade(t, "gemma3", with(with(test.fields, "max_position_embeddings", 512), "rope_parameters", test.fields["rope_parameters"]))
		if !reflect.DeepEqual(c.Rope, test.full) || !reflect.DeepEqual(*c.SlidingRope, test.sliding) {
			t.Errorf("%s: got %+v and %+v, want %+v and %+v", name, c.Rope, *c.SlidingRope, test.full, test.sliding)
		}
		js, err := c.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseConfig(js); err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%s: what is written is read as %+v, want %+v, error %v", name, again, c, err)
		}
	}
	for name, fields := range map[string]m{
		"flat and scaled":     {"rope_scaling": by8, "rope_parameters": m{"rope_type": "default"}},
		"no full and scaled":  {"rope_scaling": by8, "rope_parameters": m{"sliding_attention": by8}},
		"a number":            {"rope_parameters": 3},
		"a number of a type":  {"rope_parameters": m{"full_attention": 3}},
		"a text for truncate": {"rope_parameters": m{"truncate": "x", "full_attention": by4}},
	} {
		if _, err := ParseConfig(madeConfig(t, "gemma3", fields)); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	// The word of old is not seen by the reference where a kind is named already.
	if _, err := ParseConfig(madeConfig(t, "gemma3", m{"rope_parameters": nil, "rope_scaling": m{"type": "linear", "factor": 8}})); !errors.Is(err, ErrUnsupported) {
		t.Errorf("type: got %v", err)
	}
}
