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
	if least := c.Config.FewestTensors(); least > len(c.tensors) { // before a list of them is made
		return nil, closeAfter(c, fmt.Errorf("%w: config.json is of a model of %d tensors or more, the files have %d", ErrFormat, least, len(c.tensors)))
	}
	if err := c.joinPairs(); err != nil {
		return nil, closeAfter(c, err)
	}
	c.setStored()
	return c, nil
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
