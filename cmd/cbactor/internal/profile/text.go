package profile

import (
	"fmt"
	"math"
	"strings"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
	"github.com/cbactor/cbactor/cpuexec"
)

// String is the report as tables, one for each kind of steps, and what the machine can do.
func (r Report) String() string {
	var b strings.Builder
	for i := range r.Steps {
		r.Steps[i].write(&b)
		b.WriteString("\n")
	}
	r.Machine.write(&b)
	return b.String()
}

func (s *Steps) write(b *strings.Builder) {
	fmt.Fprintf(b, "%s: %s of %.4g rows with %.4g tokens, %s each on %s", s.Kind, words.Count(s.Steps, "step"), s.Rows, s.Tokens, duration(s.Seconds), words.Count(math.Round(100*s.Threads)/100, "thread"))
	if s.Engine > 0 {
		fmt.Fprintf(b, ", behind %s of the engine", duration(s.Engine))
	}
	b.WriteString("\n")
	fmt.Fprintf(b, "  %-11s %6s %10s %7s %8s %8s  %s\n", "operation", "calls", "a step", "share", "GOP/s", "GB/s", "of the limit")
	for i := range s.Operations {
		o := &s.Operations[i]
		line := fmt.Sprintf("  %-11s %6.4g %10s %5.1f %%", o.Name, o.Calls, duration(o.Seconds), 100*o.Share)
		if o.Limit != "" {
			line += fmt.Sprintf(" %8.4g %8.3g  %3.0f %% of %s", o.GOps, o.GBytes, 100*o.ShareOfLimit, o.Limit)
		}
		if o.Name == cpuexec.OpWait.String() {
			line += ", the longest time " + duration(s.LongestWait)
		}
		b.WriteString(line + "\n")
	}
}

func (m *Machine) write(b *strings.Builder) {
	fmt.Fprintf(b, "The machine, measured with %s on %s: f32 %.4g GOP/s, int8 %.4g GOP/s,\n  memory %.3g GB/s, reading %s",
		m.Kernels, words.Count(m.Threads, "thread"), m.F32, m.Int8, m.Memory, mebibytes(m.MemoryBuffer))
	if m.Cache > 0 {
		fmt.Fprintf(b, "; cache %.3g GB/s, reading %s of a last level of %s", m.Cache, mebibytes(m.CacheBuffer), mebibytes(m.LastLevelCache))
	}
	b.WriteString("\n")
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }

// duration is a time in a unit that gives it three digits or so.
func duration(seconds float64) string {
	if seconds < 1e-3 {
		return fmt.Sprintf("%.1f µs", 1e6*seconds)
	}
	return fmt.Sprintf("%.3f ms", 1e3*seconds)
}
