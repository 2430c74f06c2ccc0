package familytest

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/model"
)

// safetensors is a file of all tensors of c in float32, by the formula of
// test/testdata/families/make.py.
func safetensors(t testing.TB, c *model.Config) []byte {
	t.Helper()
	type entry struct {
		DType   string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	header, at := map[string]entry{}, 0
	for _, tensor := range c.Tensors() {
		end := at + 4*tensor.Elements()
		header[tensor.Name] = entry{"F32", tensor.Shape, [2]int{at, end}}
		at = end
	}
	js, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	out := append(binary.LittleEndian.AppendUint64(nil, uint64(len(js))), js...)
	for _, tensor := range c.Tensors() {
		add, factor := 0.0, 0.2
		switch {
		case strings.Contains(tensor.Name, "norm"):
			add, factor = 1-c.NormOffset, 0.35
		case strings.HasSuffix(tensor.Name, "bias") || strings.HasSuffix(tensor.Name, "sinks"):
			factor = 0.35
		}
		seed := hash(tensor.Name)
		for i := range tensor.Elements() {
			x := float64(number(seed, i)*factor) + add
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(x)))
		}
	}
	return out
}

// hash is FNV-1a of 64 bits.
func hash(name string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 0x100000001b3
	}
	return h
}

// number is number i of splitmix64 from a seed on, as 24 bits from -1 to 1.
func number(seed uint64, i int) float64 {
	z := seed + uint64(i+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return float64(z>>40)/(1<<23) - 1
}
