package cpuexec

import (
	"os"
	"path/filepath"
	"testing"
)

// The system's files are read as they are, and what is no such file is no cache.
func TestCacheSizes(t *testing.T) {
	for name, c := range map[string]struct {
		files         [][3]string // level, type, size
		private, last int64
	}{
		"three":  {[][3]string{{"1", "Data", "48K"}, {"1", "Instruction", "64K"}, {"2", "Unified", "2048K"}, {"3", "Unified", "480M"}}, 2 << 20, 480 << 20},
		"two":    {[][3]string{{"1", "Data", "32K"}, {"1", "Instruction", "32K"}, {"2", "Unified", "1M"}}, 32 << 10, 1 << 20},
		"none":   {nil, 0, 0},
		"broken": {[][3]string{{"1", "Data", "-3K"}, {"2", "Unified", "99999999999999999999M"}, {"x", "Unified", "1M"}}, 0, 0},
	} {
		dir := t.TempDir()
		for i, f := range c.files {
			at := filepath.Join(dir, "index"+string(rune('0'+i)))
			if err := os.Mkdir(at, 0o755); err != nil {
				t.Fatal(err)
			}
			for j, file := range []string{"level", "type", "size"} {
				if err := os.WriteFile(filepath.Join(at, file), []byte(f[j]+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		if private, last := cacheSizesIn(dir); private != c.private || last != c.last {
			t.Errorf("%s: %d and %d", name, private, last)
		}
	}
	if n := availableMemory(); n <= 0 {
		t.Errorf("%d bytes are available", n)
	}
}

// That nothing is left is not that nothing is known.
func TestAvailableMemory(t *testing.T) {
	for text, want := range map[string]int64{
		"MemTotal: 9 kB\nMemAvailable: 3 kB\n": 3 << 10, "MemAvailable: 0 kB\n": 1,
		"MemFree: 3 kB\n": 0, "MemAvailable:\n": 0, "MemAvailable: -3 kB\n": 0, "": 0,
	} {
		if got := memAvailable([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	for _, c := range [][3]int64{{0, 0, 0}, {0, 5, 5}, {5, 0, 5}, {1, 5, 1}, {5, 1, 1}} {
		if got := leastKnown(c[0], c[1]); got != c[2] {
			t.Errorf("of %d and %d: %d, want %d", c[0], c[1], got, c[2])
		}
	}
}
