package kernels

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cuda/cubin"
	"github.com/cbactor/cbactor/cuda/emu"
	"github.com/cbactor/cbactor/sampling"
)

// mutants are kernels with a mistake each, which the interpreter or the numbers must tell:
// tests of the tests.
var mutants = []struct {
	name, kernel string
	from, to     string // a regular expression of the kernel's lines, and what they become
	weights      Format
}{
	{"no barriers", "gemm_16", `bar\.sync\s+0;`, "", BF16},
	{"no barriers", "rms_norm", `bar\.sync\s+0;`, "", BF16},
	{"copies not waited for", "gemm_16", `cp\.async\.wait_group \d`, "cp.async.wait_group 9", BF16},
	{"factors of tensor cores the other way round", "gemm_16", `\{(%r\d+), ?(%r\d+), ?(%r\d+), ?(%r\d+)\}`, "{$2,$1,$3,$4}", BF16},
	{"a squared sum without roots", "rms_norm", `sqrt\.rn\.f32`, "abs.f32", BF16},
	{"no barriers", "gemm_q8_16", `bar\.sync\s+0;`, "", Q8},
	{"bytes without a sign", "gemm_q8_16", `0fCB000080`, "0fCB000000", Q8},
	{"copies not waited for", "gemm_q4_16", `cp\.async\.wait_group \d`, "cp.async.wait_group 9", Q4},
	{"minima that are 8 times the scale off", "gemm_q4_16", `0fC1800000`, "0fC1000000", Q4},
	{"copies not waited for", "lora_down", `cp\.async\.wait_group \d`, "cp.async.wait_group 9", BF16},
	{"no barriers", "lora_up", `bar\.sync\s+0;`, "", BF16},
	{"no barriers", "draw", `bar\.sync\s+0;`, "", BF16},
	{"ids counted twice", "draw", `(atom\.global\.add\.u32[^;]*), 1;`, "$1, 2;", BF16},
	{"likely logits made more likely", "draw", `div\.rn\.f32`, "mul.f32", BF16},
	{"ratios that are products", "draw", `div\.rn\.f64`, "mul.f64", BF16},
}

func TestMutantsAreTold(t *testing.T) {
	emu.Only(t, "a GPU may do anything, or hang")
	image, err := cubin.PTX()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		t.Run(m.kernel+": "+m.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "all.ptx")
			if err := os.WriteFile(file, []byte(mutate(t, string(image), m.kernel, m.from, m.to)), 0o600); err != nil {
				t.Fatal(err)
			}
			r := newRig(t, emu.Options{PTX: file})
			right := func() error { return r.gemmRight(m.weights) }
			switch m.kernel {
			case "rms_norm":
				right = r.normRight
			case "draw":
				right = r.drawRight
			case "lora_down", "lora_up":
				right = r.loraRight
			}
			if err := right(); err == nil {
				t.Error("nobody tells it")
			}
		})
	}
}

// mutate changes one kernel of the text.
func mutate(t *testing.T, text, kernel, from, to string) string {
	t.Helper()
	begin := strings.Index(text, ".entry "+kernel+"(")
	if begin < 0 {
		t.Fatalf("there is no %s", kernel)
	}
	end := begin + strings.Index(text[begin:], "\n}\n")
	changed := regexp.MustCompile(from).ReplaceAllString(text[begin:end], to)
	if changed == text[begin:end] {
		t.Fatalf("%s has nothing like %s", kernel, from)
	}
	return text[:begin] + changed + text[end:]
}

// errWrong is a wrong number.
var errWrong = errors.New("wrong")

// gemmRight runs a small product, and is what is told of it.
func (r *rig) gemmRight(f Format) error {
	const m, n, k = 5, 40, 320
	a := r.numbers(m*k, 1)
	w, numbers := r.matrix(f, n, k)
	parts := r.room(4 * m * n)
	if err := r.told(r.set.Gemm(r.stream, parts, r.halves(a), w, m, n, k, 1)); err != nil {
		return err
	}
	return compared(r.getFloats(parts, m*n), product(a, numbers, m, n, k), 1e-3)
}

// normRight does so with a row's norm.
func (r *rig) normRight() error {
	const n = 320
	x, w := r.numbers(n, 2), r.numbers(n, 1)
	y := r.room(2 * n)
	if err := r.told(r.set.Norm(r.stream, y, r.floats(x), 0, r.floats(w), 1, n, n, testEps)); err != nil {
		return err
	}
	return compared(r.getHalves(y, n), normed(wide(x), w, testEps), 0.02)
}

// drawRight draws a few rows.
func (r *rig) drawRight() error {
	d := r.newDraws(300, 40)
	for range 4 {
		d.add(r.row(d.n, 3, 0, 0.1), sampling.Params{RepetitionPenalty: 3, Tell: everything}, r.someIDs(30, d.n), 4)
		d.add(r.row(d.n, 3, 0, 0.1), sampling.Params{Temperature: 0.5, TopP: 0.9, FrequencyPenalty: -2, Tell: everything}, r.someIDs(30, d.n), 4)
	}
	at, err := d.launch(3)
	if err := r.told(err); err != nil {
		return err
	}
	return d.compare(&at)
}

// told is what a launch and its work are said to have done.
func (r *rig) told(err error) error {
	r.broken = true
	if err == nil {
		err = r.stream.Synchronize()
	}
	return err
}

func compared(got []float32, want []float64, within float64) error {
	for i, x := range want {
		if !(math.Abs(float64(got[i])-x) <= within) {
			return errWrong
		}
	}
	return nil
}
