package cpuexec

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// cacheSizes is what the system says of caches in bytes: those of a CPU below the last
// level, and the last level. 0: not known.
func cacheSizes() (private, last int64) { return cacheSizesIn("/sys/devices/system/cpu/cpu0/cache") }

// cacheSizesIn reads a folder like that: one of index0 and following for each cache.
func cacheSizesIn(dir string) (private, last int64) {
	levels := map[int]int64{}
	most := 0
	for i := 0; ; i++ {
		at := filepath.Join(dir, "index"+strconv.Itoa(i))
		level, err := strconv.Atoi(line(at, "level"))
		if err != nil {
			break // there is no further one
		}
		if line(at, "type") != "Instruction" {
			levels[level], most = cacheSize(line(at, "size")), max(most, level)
		}
	}
	return levels[most-1], levels[most]
}

// line is what a file of one line says; "" where there is none.
func line(dir, name string) string {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// cacheSize reads a size such as 2048K; 0: it is none.
func cacheSize(text string) int64 {
	unit := int64(1)
	if t, ok := strings.CutSuffix(text, "K"); ok {
		text, unit = t, 1<<10
	} else if t, ok := strings.CutSuffix(text, "M"); ok {
		text, unit = t, 1<<20
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return n * unit
}

// availableMemory is how many bytes can be taken before somebody else has to give some:
// of the machine, and of the limit of the process; 1 where nothing is left. 0: not known.
func availableMemory() int64 {
	left := leftOf(MemoryLimit(), Resident())
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return left
	}
	return leastKnown(left, memAvailable(text))
}

// memAvailable is what a /proc/meminfo says of that; 0: nothing.
func memAvailable(text []byte) int64 {
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		field := strings.Fields(s.Text())
		if len(field) < 2 || field[0] != "MemAvailable:" {
			continue
		}
		if kib, err := strconv.ParseInt(field[1], 10, 52); err == nil && kib >= 0 {
			return max(kib<<10, 1)
		}
	}
	return 0
}

// leastKnown is the smaller of two numbers of bytes of which 0 means not known.
func leastKnown(a, b int64) int64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}
