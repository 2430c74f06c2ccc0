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
