package engine

import (
	"fmt"
	"slices"
	"strings"
)

// Graphs says which paths run as captured graphs on a GPU.
type Graphs struct {
	Varlen bool // ragged batches
	Decode bool // batches of one token a request
}

// MarshalText implements encoding.TextMarshaler.
func (g Graphs) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "%t,%t", g.Varlen, g.Decode), nil
}

// UnmarshalText implements encoding.TextUnmarshaler: a value for both paths, or two.
func (g *Graphs) UnmarshalText(text []byte) error {
	varlen, decode, two := strings.Cut(string(text), ",")
	if !two {
		decode = varlen
	}
	v, ok := parseBool(varlen)
	d, ok2 := parseBool(decode)
	if !ok || !ok2 {
		return fmt.Errorf("%.40q is neither true nor false, nor a pair of them (varlen,decode)", text)
	}
	*g = Graphs{Varlen: v, Decode: d}
	return nil
}

func (Graphs) check() error { return nil }

// Compile says how the kernels of a path are tuned on a GPU.
type Compile struct {
	Mode    string // "default", "reduce-overhead", "max-autotune" or "max-autotune-no-cudagraphs"
	Dynamic bool   // for shapes that vary
}

var compileModes = []string{"default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"}

// MarshalText implements encoding.TextMarshaler.
func (c Compile) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "mode=%s,dynamic=%t", c.Mode, c.Dynamic), nil
}

// UnmarshalText implements encoding.TextUnmarshaler: mode=MODE,dynamic=BOOL, or
// one of them.
func (c *Compile) UnmarshalText(text []byte) error {
	read := Compile{Mode: compileModes[0]}
	err := parsePairs(string(text), func(name, value string) error {
		switch name {
		case "mode":
			read.Mode = value
			return nil
		case "dynamic":
			var ok bool
			if read.Dynamic, ok = parseBool(value); ok {
				return nil
			}
			return fmt.Errorf("dynamic is %.40q, neither true nor false", value)
		}
		return fmt.Errorf("%.40q is neither mode nor dynamic", name)
	})
	if err != nil {
		return err
	}
	*c = read
	return c.check()
}

func (c Compile) check() error {
	if !slices.Contains(compileModes, c.Mode) {
		return fmt.Errorf("mode is %.40q, none of %s", c.Mode, strings.Join(compileModes, ", "))
	}
	return nil
}
