package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/cpuexec"
)

// Compile says how a path is tuned: on a CPU, how work is cut for the kernels. What is
// computed does not depend on it.
type Compile struct {
	Mode    string // "default" or "reduce-overhead" measures the largest matrices, "max-autotune" or "max-autotune-no-cudagraphs" all; "none"
	Dynamic bool   // one choice for any number of rows of the path, instead of one for each class
}

// untuned is the text of a Compile that leaves a path as it is.
const untuned = "mode=none,dynamic=false"

var compileModes = []string{"none", "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"}

// compileLevels are what both paths have by default_compile_level, as in the reference.
var compileLevels = [...]Compile{{Mode: "none"}, {"default", true}, {"max-autotune-no-cudagraphs", true}, {"max-autotune-no-cudagraphs", false}}

// tune decides how each path is tuned: as is given, else by the level.
func (r *Resolved) tune() {
	c := &r.Config
	if c.Executor != nil || r.gpu != nil {
		return
	}
	level := compileLevels[c.DefaultCompileLevel]
	for _, path := range []struct {
		name string
		at   **Compile
	}{{"varlen_compile_config", &c.VarlenCompileConfig}, {"decode_compile_config", &c.DecodeCompileConfig}} {
		if *path.at == nil {
			own := level // each path can be changed alone
			*path.at, r.from[path.name] = &own, fmt.Sprintf("default_compile_level %d", c.DefaultCompileLevel)
		}
	}
}

// effort is what that means to the CPU executor.
func (c *Compile) effort() cpuexec.Effort {
	scope := cpuexec.Every
	switch c.Mode {
	case "none":
		return cpuexec.Effort{}
	case "default", "reduce-overhead":
		scope = cpuexec.Largest
	}
	return cpuexec.Effort{Scope: scope, Classes: !c.Dynamic}
}

// MarshalText implements encoding.TextMarshaler.
func (c Compile) MarshalText() ([]byte, error) {
	return fmt.Appendf(nil, "mode=%s,dynamic=%t", c.Mode, c.Dynamic), nil
}

// UnmarshalText implements encoding.TextUnmarshaler: mode=MODE,dynamic=BOOL, or
// one of them.
func (c *Compile) UnmarshalText(text []byte) error {
	read := Compile{Mode: "default"}
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
