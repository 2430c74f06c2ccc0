package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/model"
)

const (
	adapterFile       = "adapter_model.safetensors"
	adapterConfigFile = "adapter_config.json"
	maxAdapterConfig  = 1 << 20
)

// AdapterFiles are the files of an adapter's folder that ReadAdapter reads.
var AdapterFiles = []string{adapterConfigFile, adapterFile}

// ReadAdapter reads a LoRA adapter for m from a folder as PEFT writes it:
// adapter_config.json and adapter_model.safetensors, in f32, f16 or bf16. Everything
// is checked before memory is taken, which is at most maxRank times the inputs and
// outputs of the linear layers. Options that change what is computed and are not
// implemented, modules that the model lacks, tensors that are missing or that nobody
// asked for are refused by name. Errors wrap ErrNotFound, ErrFormat,
// model.ErrUnsupported or model.ErrAdapter.
func ReadAdapter(fsys fs.FS, m *model.Config, maxRank int) (a *model.Adapter, err error) {
	js, ok, err := readSmall(fsys, adapterConfigFile, maxAdapterConfig)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%w: the folder has no %s", ErrNotFound, adapterConfigFile)
	}
	c, err := parseAdapterConfig(js)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", adapterConfigFile, err)
	}
	file, at, size, err := openFile(fsys, adapterFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: the folder has no %s, and no other file is read: save the adapter as safetensors", ErrNotFound, adapterFile)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = closeAfter(file, err) }()
	tensors, err := readSafetensors(at, size)
	if err == nil {
		a, err = readParts(tensors, c, m, maxRank)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", adapterFile, err)
	}
	return a, nil
}

// pair is the two matrices of a module.
type pair struct{ a, b *stored }

// readParts reads an adapter out of its tensors.
func readParts(tensors []stored, c *adapterConfig, m *model.Config, maxRank int) (*model.Adapter, error) {
	shapes := m.AdapterShapes()
	pairs, err := pairUp(tensors)
	if err != nil {
		return nil, err
	}
	modules, err := c.modules(shapes)
	if err != nil {
		return nil, err
	}
	a := new(model.Adapter)
	for _, name := range sortedKeys(pairs) {
		part, err := c.part(name, pairs[name], shapes[name], maxRank)
		if err != nil {
			return nil, err
		}
		a.Parts = append(a.Parts, part)
	}
	for _, name := range modules {
		if pairs[name] == (pair{}) {
			return nil, fmt.Errorf("%w: target module %s has no tensors: is the file complete?", ErrFormat, name)
		}
	}
	for i := range a.Parts { // all are checked: now memory is taken
		p := pairs[a.Parts[i].Module]
		if a.Parts[i].A, err = p.a.floats(); err != nil {
			return nil, err
		}
		if a.Parts[i].B, err = p.b.floats(); err != nil {
			return nil, err
		}
	}
	return a, a.Check(m, maxRank)
}

// pairUp sorts tensors by module. PEFT puts its wrappers' names in front of the
// model's.
func pairUp(tensors []stored) (map[string]pair, error) {
	pairs := map[string]pair{}
	for i := range tensors {
		t := &tensors[i]
		name, ours := strings.CutPrefix(t.Name, "base_model.model.")
		module, isA := strings.CutSuffix(name, ".lora_A.weight")
		module, isB := strings.CutSuffix(module, ".lora_B.weight")
		if !ours || isA == isB {
			return nil, fmt.Errorf("%w: tensor %.120q is not that of a LoRA over a linear layer", model.ErrUnsupported, t.Name)
		}
		p := pairs[module]
		if isA {
			p.a = t
		} else {
			p.b = t
		}
		pairs[module] = p
	}
	return pairs, nil
}

// part checks a module's matrices and says what they are; shape is [out, in], nil for
// a module that the model lacks.
func (c *adapterConfig) part(module string, p pair, shape []int, maxRank int) (model.AdapterPart, error) {
	part := model.AdapterPart{Module: module}
	if shape == nil {
		return part, fmt.Errorf("%w: the model has no module %.80q that an adapter may add to", model.ErrAdapter, module)
	}
	if p.a == nil || p.b == nil {
		return part, fmt.Errorf("%w: %s has lora_A or lora_B, not both", ErrFormat, module)
	}
	rank, scale, err := c.scale(module)
	if err != nil {
		return part, err
	}
	if rank > maxRank {
		return part, fmt.Errorf("%w: %s has rank %d, at most %d is allowed", model.ErrAdapter, module, rank, maxRank)
	}
	for _, t := range []struct {
		*stored
		want []int
	}{{p.a, []int{rank, shape[1]}}, {p.b, []int{shape[0], rank}}} {
		if !slices.Equal(t.Shape, t.want) {
			return part, fmt.Errorf("%w: %s is %v, the model and %s say %v", model.ErrAdapter, t.Name, t.Shape, adapterConfigFile, t.want)
		}
		if t.DType == model.Invalid {
			return part, fmt.Errorf("%w: %s is stored as %s, must be F32, F16 or BF16", model.ErrUnsupported, t.Name, t.kind)
		}
	}
	part.Rank, part.Scale = rank, scale
	return part, nil
}

// floats reads a tensor, widened.
func (t *stored) floats() ([]float32, error) {
	data := make([]byte, t.Bytes())
	if err := t.readPlain(data); err != nil {
		return nil, fmt.Errorf("read tensor %q: %w", t.Name, err)
	}
	out := make([]float32, t.Elements())
	model.Dequantize(out, data, t.DType)
	return out, nil
}
