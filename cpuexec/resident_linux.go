package cpuexec

import (
	"bytes"
	"os"
	"strconv"
)

// Resident is how many bytes of memory the process has in use.
func Resident() int64 {
	text, err := os.ReadFile("/proc/self/statm") // in pages: size resident ...
	if err != nil {
		return managed()
	}
	field := bytes.Fields(text)
	if len(field) < 2 {
		return managed()
	}
	pages, err := strconv.ParseInt(string(field[1]), 10, 64)
	if err != nil {
		return managed()
	}
	return pages * int64(os.Getpagesize())
}
