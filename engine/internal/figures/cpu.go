package figures

import (
	"runtime"
	"strings"
)

// CPU names the kind of this machine's CPU, with what it is programmed as.
func CPU() string { return strings.TrimSpace(runtime.GOOS + " " + runtime.GOARCH + " " + model()) }

// cpuinfoNames are the lines of Linux's /proc/cpuinfo that tell kinds of CPUs apart.
var cpuinfoNames = []string{"model name", "CPU implementer", "CPU part", "CPU variant", "uarch", "cpu"}

// modelIn is what the first CPU of such a text is; "": it does not say.
func modelIn(cpuinfo string) string {
	first, _, _ := strings.Cut(cpuinfo, "\n\n")
	var words []string
	for line := range strings.Lines(first) {
		name, value, _ := strings.Cut(line, ":")
		for _, n := range cpuinfoNames {
			if strings.TrimSpace(name) == n {
				words = append(words, strings.Fields(value)...)
			}
		}
	}
	return strings.Join(words, " ")
}
