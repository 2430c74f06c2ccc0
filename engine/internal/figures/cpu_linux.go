package figures

import "os"

// model is the CPU's; "": it is not known.
func model() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	return modelIn(string(text))
}
