package checkpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/model"
)

// pairs are the tensors of a safetensors file, put together.
func pairs(t *testing.T, file []byte) (*Checkpoint, error) {
	t.Helper()
	list, err := readSafetensors(strings.NewReader(string(file)), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	c := &Checkpoint{tensors: map[string]stored{}}
	for _, one := range list {
		c.tensors[one.Name] = one
	}
	return c, c.joinPairs()
}

// Weights with scales are what transformers makes of them (testdata/make_pairs.py).
func TestPairsGolden(t *testing.T) {
	file, err := os.ReadFile("testdata/pairs.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	golden, err := os.ReadFile("testdata/pairs.f32")
	if err != nil {
		t.Fatal(err)
	}
	c, err := pairs(t, file)
	if err != nil || len(c.tensors) != 2 {
		t.Fatalf("%d tensors, error %v", len(c.tensors), err)
	}
	moe, fp8 := c.tensors["moe.gate_up_proj"], c.tensors["fp8.weight"]
	if moe.DType != model.MXFP4 || !slices.Equal(moe.Shape, []int{2, 3, 64}) || fp8.DType != model.FP8 || !slices.Equal(fp8.Shape, []int{256, 256}) {
		t.Fatalf("%v and %v", moe.Tensor, fp8.Tensor)
	}
	got := wide(t, c, moe.Name)
	numbers := wide(t, c, fp8.Name)
	for _, row := range []int{0, 127, 128, 255} {
		got = append(got, numbers[256*row:][:256]...)
	}
	if len(got) != len(golden)/4 {
		t.Fatalf("%d numbers, want %d", len(got), len(golden)/4)
	}
	for i, x := range got {
		if want := math.Float32frombits(binary.LittleEndian.Uint32(golden[4*i:])); x != want {
			t.Fatalf("number %d: got %g, want %g", i, x, want)
		}
	}
}

// The last square of rows may be cut; its scale is a number of any float type.
func TestPairsRagged(t *testing.T) {
	const rows, in = 130, 128
	header := "{" + entry("w", "F8_E4M3", fmt.Sprintf("[%d,%d]", rows, in), 0, rows*in) + "," + entry("w_scale_inv", "BF16", "[2,1]", rows*in, rows*in+4) + "}"
	data := slices.Repeat([]byte{0x38}, rows*in) // 1
	data = append(data, 0x00, 0x40, 0x80, 0xbf)  // 2 and -1
	c, err := pairs(t, safetensorsFile(header, uint64(len(header)), data))
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range wide(t, c, "w") {
		if want := []float32{2, -1}[i/in/128]; x != want {
			t.Fatalf("number %d is %g, want %g", i, x, want)
		}
	}
}

func TestPairsRefuse(t *testing.T) {
	for name, test := range map[string]struct {
		entries []string
		size    int
		kind    error
		says    string
	}{
		"no scales":           {[]string{entry("w_blocks", "U8", "[2,16]", 0, 32)}, 32, ErrFormat, "w_blocks"},
		"no FP8 scales":       {[]string{entry("w", "F8_E4M3", "[1,128]", 0, 128)}, 128, ErrFormat, "scales are missing"},
		"block of 8":          {[]string{entry("w_blocks", "U8", "[2,8]", 0, 16), entry("w_scales", "U8", "[2]", 16, 18)}, 18, ErrFormat, "w_blocks"},
		"other scales":        {[]string{entry("w_blocks", "U8", "[2,16]", 0, 32), entry("w_scales", "U8", "[3]", 32, 35)}, 35, ErrFormat, "[3]"},
		"scales of 2 bytes":   {[]string{entry("w_blocks", "U8", "[2,16]", 0, 32), entry("w_scales", "U16", "[2]", 32, 36)}, 36, ErrFormat, "U16"},
		"scalar":              {[]string{entry("w_blocks", "U8", "[16]", 0, 16), entry("w_scales", "U8", "[]", 16, 17)}, 17, ErrFormat, "w_blocks"},
		"rows of 64":          {[]string{entry("w", "F8_E4M3", "[2,64]", 0, 128), entry("w_scale_inv", "F32", "[1,1]", 128, 132)}, 132, model.ErrUnsupported, "64"},
		"one scale":           {[]string{entry("w", "F8_E4M3", "[129,128]", 0, 129*128), entry("w_scale_inv", "F32", "[1,1]", 129*128, 129*128+4)}, 129*128 + 4, ErrFormat, "[2 1]"},
		"a scale that is int": {[]string{entry("w", "F8_E4M3", "[1,128]", 0, 128), entry("w_scale_inv", "I32", "[1,1]", 128, 132)}, 132, ErrFormat, "I32"},
		"there twice":         {[]string{entry("w", "U8", "[1]", 0, 1), entry("w_blocks", "U8", "[2,16]", 1, 33), entry("w_scales", "U8", "[2]", 33, 35)}, 35, ErrFormat, "there twice"},
		"a vector":            {[]string{entry("w", "F8_E4M3", "[128]", 0, 128), entry("w_scale_inv", "F32", "[1]", 128, 132)}, 132, model.ErrUnsupported, "[128]"},
	} {
		header := "{" + strings.Join(test.entries, ",") + "}"
		_, err := pairs(t, safetensorsFile(header, uint64(len(header)), make([]byte, test.size)))
		if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %v, want %v that says %s", name, err, test.kind, test.says)
		}
	}
}
