package checkpoint

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cbactor/cbactor/model"
)

// adapterFolder is a made adapter for the small model: A is counted up from 1, B
// likewise, over q and v, rank 2.
type adapterFolder struct {
	config  map[string]any
	shapes  map[string][]int
	dtype   string
	missing string                  // a file that is left out
	change  func(fsys fstest.MapFS) // of the files
}

const wrapped = "base_model.model."

func newAdapterFolder() *adapterFolder {
	f := &adapterFolder{dtype: "F32", shapes: map[string][]int{}, config: map[string]any{
		"peft_type": "LORA", "r": 2, "lora_alpha": 6, "bias": "none", "target_modules": []string{"q_proj", "v_proj"}, "lora_dropout": 0.5,
		"modules_to_save": nil, "use_dora": false, "rank_pattern": map[string]any{}, "megatron_core": "megatron.core", "qalora_group_size": 16,
	}}
	for _, m := range []string{"q", "v"} {
		f.shapes[wrapped+"model.layers.0.self_attn."+m+"_proj.lora_A.weight"] = []int{2, 4}
		f.shapes[wrapped+"model.layers.0.self_attn."+m+"_proj.lora_B.weight"] = []int{4, 2}
	}
	return f
}

func (f *adapterFolder) fs(t *testing.T) fstest.MapFS {
	t.Helper()
	var entries []string
	var data []byte
	for _, name := range slices.Sorted(maps.Keys(f.shapes)) {
		at := len(data)
		for i := range (model.Tensor{Shape: f.shapes[name]}).Elements() {
			bits := math.Float32bits(float32(i + 1))
			switch f.dtype {
			case "BF16":
				data = binary.LittleEndian.AppendUint16(data, uint16(bits>>16))
			case "F32":
				data = binary.LittleEndian.AppendUint32(data, bits)
			default:
				data = append(data, 0)
			}
		}
		shape, err := json.Marshal(f.shapes[name])
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry(name, f.dtype, string(shape), at, len(data)))
	}
	header := "{" + strings.Join(entries, ",") + "}"
	config, err := json.Marshal(f.config)
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{adapterConfigFile: {Data: config}, adapterFile: {Data: safetensorsFile(header, uint64(len(header)), data)}}
	delete(fsys, f.missing)
	if f.change != nil {
		f.change(fsys)
	}
	return fsys
}

func smallModel(t *testing.T) *model.Config {
	t.Helper()
	m, err := model.ParseConfig([]byte(smallConfig))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestReadAdapter(t *testing.T) {
	const module = "model.layers.0.self_attn.v_proj"
	for name, c := range map[string]struct {
		change func(f *adapterFolder)
		rank   int
		scale  float64
	}{
		"plain":  {func(*adapterFolder) {}, 2, 3},
		"bf16":   {func(f *adapterFolder) { f.dtype = "BF16" }, 2, 3},
		"rslora": {func(f *adapterFolder) { f.config["use_rslora"] = true }, 2, 6 / math.Sqrt2},
		"alpha_pattern": {func(f *adapterFolder) {
			f.config["alpha_pattern"] = map[string]any{`self_attn\.v_proj`: 5, "proj": 7}
		}, 2, 2.5},
		"rank_pattern": {func(f *adapterFolder) {
			f.config["rank_pattern"] = map[string]any{"v_proj": 1}
			f.shapes[wrapped+module+".lora_A.weight"] = []int{1, 4}
			f.shapes[wrapped+module+".lora_B.weight"] = []int{4, 1}
		}, 1, 6},
		"a pattern of targets": {func(f *adapterFolder) { f.config["target_modules"] = `.*[qv]_proj` }, 2, 3},
		"whole names":          {func(f *adapterFolder) { f.config["target_modules"] = []string{module} }, 2, 3},
		"excluded": {func(f *adapterFolder) {
			f.config["target_modules"] = []string{"q_proj", "v_proj", "o_proj"}
			f.config["exclude_modules"] = []string{"o_proj"}
		}, 2, 3},
		"layers":  {func(f *adapterFolder) { f.config["layers_to_transform"] = []int{0} }, 2, 3},
		"a layer": {func(f *adapterFolder) { f.config["layers_to_transform"] = 0 }, 2, 3},
		"options of a newer PEFT": {func(f *adapterFolder) {
			f.config["use_new"], f.config["new_config"] = false, nil
		}, 2, 3},
	} {
		f := newAdapterFolder()
		c.change(f)
		a, err := ReadAdapter(f.fs(t), smallModel(t), 2)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		i := slices.IndexFunc(a.Parts, func(p model.AdapterPart) bool { return p.Module == module })
		if len(a.Parts) != 2 || i < 0 {
			t.Fatalf("%s: parts are %+v", name, a.Parts)
		}
		p := a.Parts[i]
		if p.Rank != c.rank || math.Abs(p.Scale-c.scale) > 1e-12 || len(p.A) != 4*c.rank || p.A[3] != 4 || p.B[1] != 2 {
			t.Errorf("%s: %+v, want rank %d and scale %v", name, p, c.rank, c.scale)
		}
	}
}

// TestReadAdapterInfinite refuses numbers that are none.
func TestReadAdapterInfinite(t *testing.T) {
	f := newAdapterFolder()
	f.change = func(fsys fstest.MapFS) {
		data := fsys[adapterFile].Data
		binary.LittleEndian.PutUint32(data[len(data)-4:], math.Float32bits(float32(math.Inf(1))))
	}
	if _, err := ReadAdapter(f.fs(t), smallModel(t), 2); !errors.Is(err, model.ErrAdapter) {
		t.Error(err)
	}
}
