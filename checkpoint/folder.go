package checkpoint

import (
	"encoding/json"
	"fmt"
	"io/fs"

	"github.com/cbactor/cbactor/model"
)

// Largest files that are read whole.
const (
	maxConfigFile    = 4 << 20
	maxTemplateFile  = 4 << 20
	maxTokenizerFile = 128 << 20
	maxIndexFile     = 64 << 20
	maxTextConfig    = 16 << 20
)

// openFolder opens a checkpoint folder.
func openFolder(fsys fs.FS) (*Checkpoint, error) {
	js, ok, err := readSmall(fsys, "config.json", maxConfigFile)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%w: the folder has no config.json%s", ErrNotFound, meant(fsys))
	}
	c := &Checkpoint{tensors: map[string]stored{}}
	if c.Config, err = model.ParseConfig(js); err != nil {
		return nil, fmt.Errorf("config.json: %w", err)
	}
	if err := c.readGeneration(fsys); err != nil { // before others add end tokens: it replaces assumed ones
		return nil, err
	}
	if err := c.readText(fsys); err != nil {
		return nil, err
	}
	if err := c.Config.Validate(); err != nil { // the other files named end tokens, too
		return nil, err
	}
	if err := c.openShards(fsys); err != nil {
		return nil, closeAfter(c, err)
	}
	if err := c.checkFewest(); err != nil {
		return nil, closeAfter(c, err)
	}
	if err := c.joinPairs(); err != nil {
		return nil, closeAfter(c, err)
	}
	c.setStored()
	return c, nil
}

// checkFewest refuses a model of more layers and experts than its files have tensors, before a
// list of those that it must have is made.
func (c *Checkpoint) checkFewest() error {
	least := c.Config.FewestTensors()
	if least <= len(c.tensors) {
		return nil
	}
	return fmt.Errorf("%w: %w: %s; the configuration is of a model of %d tensors or more, the files have %d",
		ErrFormat, model.ErrMissing, c.firstMissing(), least, len(c.tensors))
}

// firstMissing names a tensor of the first layer without one, else that of the first expert.
func (c *Checkpoint) firstMissing() string {
	for l := range c.Config.Layers {
		name := model.LayerPrefix(l) + "self_attn.o_proj.weight" // which all families have
		if _, ok := c.tensors[name]; !ok {
			return name
		}
	}
	for l := range c.Config.Layers {
		if !c.Config.HasExperts(l) {
			continue
		}
		for e := range c.Config.MoE.Experts {
			for _, module := range []string{"gate_proj", "up_proj", "down_proj"} {
				name := c.Config.ExpertWeight(l, e, module).Tensor
				if _, ok := c.tensors[name]; !ok {
					return name
				}
			}
		}
	}
	return "" // FewestTensors counts these alone
}

// readFields decodes the fields of an object that is a small file of the folder, none where there
// is no such file.
func readFields(fsys fs.FS, name string) (map[string]json.RawMessage, error) {
	js, ok, err := readSmall(fsys, name, maxConfigFile)
	if err != nil || !ok {
		return nil, err
	}
	all, err := model.Fields(js)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrFormat, name, err)
	}
	return all, nil
}

// meant tells who gives a folder of GGUF files where the path of one belongs.
func meant(fsys fs.FS) string {
	names, err := fs.Glob(fsys, "*.gguf")
	if err != nil || len(names) == 0 { // a folder that cannot be listed has nothing to tell
		return ""
	}
	return fmt.Sprintf(": give the path of a .gguf file that it has, such as %q", names[0])
}

// readJSON decodes a small file of the folder; v stays as it is when there is none.
func readJSON(fsys fs.FS, name string, limit int64, v any) error {
	js, ok, err := readSmall(fsys, name, limit)
	if err != nil || !ok {
		return err
	}
	if err := json.Unmarshal(js, v); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrFormat, name, err)
	}
	return nil
}
