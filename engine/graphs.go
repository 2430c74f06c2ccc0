package engine

import (
	"fmt"
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
