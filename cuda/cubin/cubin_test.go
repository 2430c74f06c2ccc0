package cubin

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestForADevice(t *testing.T) {
	for _, c := range []struct {
		major, minor int
		file         string
	}{{8, 0, "sm_80.cubin"}, {8, 6, "sm_80.cubin"}, {8, 9, "sm_89.cubin"}, {9, 0, "sm_90.cubin"}, {10, 3, "sm_100.cubin"}, {12, 1, "sm_120.cubin"}, {13, 0, "compute_80.ptx"}} {
		got, err := For(c.major, c.minor)
		if err != nil {
			t.Fatal(err)
		}
		want, err := read(c.file + ".gz")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("a device of %d.%d does not get %s", c.major, c.minor, c.file)
		}
	}
	if _, err := For(7, 5); !errors.Is(err, ErrDevice) {
		t.Errorf("a device of 7.5 gets %v, want %v", err, ErrDevice)
	}
}

// The images are those that were made of the sources as they are: else run `make cuda`.
func TestDigests(t *testing.T) {
	sources, err := filepath.Glob("../kernels/src/*")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	for _, line := range lines(t, "SHA256SUMS") {
		sum, name, _ := strings.Cut(line, "  ")
		known[name] = sum
	}
	check := func(name string, content []byte) {
		sum := sha256.Sum256(content)
		if known[name] != hex.EncodeToString(sum[:]) {
			t.Errorf("%s is not the one of SHA256SUMS: run make cuda", name)
		}
		delete(known, name)
	}
	for _, file := range sources {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		check(filepath.Base(file), content)
	}
	for _, a := range architectures {
		name := fmt.Sprintf("sm_%d.cubin", a)
		content, err := read(name + ".gz")
		if err != nil {
			t.Fatal(err)
		}
		check(name, content)
	}
	content, err := PTX()
	if err != nil {
		t.Fatal(err)
	}
	check("compute_80.ptx", content)
	for name := range known {
		t.Errorf("SHA256SUMS has %s, which there is not: run make cuda", name)
	}
}

// No kernel spills, and none takes more registers than its budget.
func TestUsage(t *testing.T) {
	budget := map[string]int{}
	for _, line := range lines(t, "budget.txt") {
		var name string
		var most int
		if strings.HasPrefix(line, "#") {
			continue
		}
		if _, err := fmt.Sscanf(line, "%s %d", &name, &most); err != nil {
			t.Fatalf("budget.txt: %q: %v", line, err)
		}
		budget[name] = most
	}
	seen := map[string]int{}
	for _, line := range lines(t, "usage.txt") {
		var name, arch string
		var registers, spilled, shared int
		if _, err := fmt.Sscanf(line, "%s %s %d %d %d", &name, &arch, &registers, &spilled, &shared); err != nil {
			t.Fatalf("usage.txt: %q: %v", line, err)
		}
		seen[name]++
		if registers > budget[name] || spilled != 0 || shared > 48<<10 {
			t.Errorf("%s on %s takes %d registers of %d, %d bytes of stack or spills, %d of shared memory", name, arch, registers, budget[name], spilled, shared)
		}
	}
	for name := range budget {
		if seen[name] != len(architectures) {
			t.Errorf("%s is compiled for %d architectures, want %d", name, seen[name], len(architectures))
		}
	}
}

func lines(t *testing.T, file string) (out []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		out = append(out, s.Text())
	}
	return out
}
