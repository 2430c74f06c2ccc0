package cubin

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// Operations of the machine, in the lowest 12 bits of an instruction, which takes 16 bytes on
// every architecture here. They were read off what the compiler makes of a product of matrices,
// and of an array that is indexed at run time.
const (
	opMultiply   = 0x23c // HMMA: a product of two matrices
	opLoadLocal  = 0x983 // LDL, from memory that stands in for registers
	opStoreLocal = 0x387 // STL
	instruction  = 16    // bytes
)

// operations counts them in each kernel of a cubin.
func operations(t *testing.T, arch int) map[string]map[uint16]int {
	t.Helper()
	image, err := read(fmt.Sprintf("sm_%d.cubin.gz", arch))
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	kernels := map[string]map[uint16]int{}
	for _, s := range f.Sections {
		name, isCode := strings.CutPrefix(s.Name, ".text.")
		if !isCode {
			continue
		}
		code, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		n := map[uint16]int{}
		for ; len(code) >= instruction; code = code[instruction:] {
			n[binary.LittleEndian.Uint16(code)&0xfff]++
		}
		kernels[name] = n
	}
	return kernels
}

// multiplies counts mma.sync in each kernel of the PTX.
func multiplies(t *testing.T) map[string]int {
	t.Helper()
	text, err := PTX()
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, entry := range strings.Split(string(text), ".entry ")[1:] {
		name, body, _ := strings.Cut(entry, "(")
		n[name] = strings.Count(body, "mma.sync.")
	}
	return n
}

// Kernels that multiply matrices, whose names end in the rows that a block takes, or are those of adapters, do so by the
// units for that, on every architecture as often as the PTX says; no kernel uses local memory.
func TestMatrixKernelsUseMatrixUnits(t *testing.T) {
	want, matrix := multiplies(t), regexp.MustCompile(`_\d+$|^lora_`)
	for _, arch := range architectures {
		kernels := operations(t, arch)
		for name, n := range kernels {
			if n[opMultiply] != want[name] || (n[opMultiply] > 0) != matrix.MatchString(name) {
				t.Errorf("sm_%d: %s has %d products of matrices, in the PTX %d", arch, name, n[opMultiply], want[name])
			}
			if local := n[opLoadLocal] + n[opStoreLocal]; local > 0 {
				t.Errorf("sm_%d: %s uses local memory in %d places", arch, name, local)
			}
		}
		if len(kernels) != len(want) {
			t.Errorf("sm_%d has %d kernels, the PTX %d", arch, len(kernels), len(want))
		}
	}
}
