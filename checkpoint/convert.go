package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cbactor/cbactor/model"
)

// WriteBF16 writes c to a new folder dir as an ordinary checkpoint of the Hugging
// Face libraries: config.json, model.safetensors in bf16 (rounded to nearest
// even) under Hugging Face names, and the files of tokenizer, chat template and
// generation defaults that c has. A tensor at a time is in memory. The folder is
// there whole or not at all: it is written beside dir and renamed. It fails when
// dir exists or its parent does not, and with model.ErrUnsupported when c has what the format cannot say.
func WriteBF16(dir string, c *Checkpoint) (err error) {
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("%s exists already: remove it or choose another folder", dir)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("convert: %w", err)
	}
	small, err := c.describe()
	if err != nil {
		return fmt.Errorf("convert: %w", err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+"-*")
	if err != nil {
		return fmt.Errorf("convert: %w", err)
	}
	defer func() {
		if err == nil {
			return
		}
		if left := os.RemoveAll(tmp); left != nil {
			err = fmt.Errorf("%w (and %w)", err, left)
		}
	}()
	if err := c.writeFolder(tmp, small); err != nil {
		return fmt.Errorf("convert: %w", err)
	}
	if err := os.Rename(tmp, dir); err != nil {
		return fmt.Errorf("convert: %w", err)
	}
	return nil
}

func (c *Checkpoint) writeFolder(dir string, small map[string][]byte) error {
	for name, data := range small {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	if err := c.writeBF16Tensors(filepath.Join(dir, singleFile)); err != nil {
		return err
	}
	return os.Chmod(dir, 0o755) // temporary folders are for their owner alone
}

// describe makes the small files of the folder.
func (c *Checkpoint) describe() (map[string][]byte, error) {
	for _, t := range c.tensors {
		if t.DType == model.MXFP4 && len(t.Shape) == 3 {
			return nil, fmt.Errorf("%w: experts stored as MXFP4, such as %s, lie the other way round in bf16", model.ErrUnsupported, t.Name)
		}
	}
	cfg := *c.Config
	cfg.Stored = model.BF16
	config, err := cfg.JSON()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"config.json": config}
	if files["generation_config.json"], err = plainJSON(c.generationFields(), "  "); err != nil {
		return nil, err
	}
	if c.ChatTemplate != "" {
		files["chat_template.jinja"] = []byte(c.ChatTemplate)
	}
	tokenizer := c.TokenizerJSON
	if tokenizer == nil && c.Vocab != nil {
		if tokenizer, err = c.Vocab.TokenizerJSON(); err != nil {
			return nil, err
		}
	}
	if tokenizer == nil {
		return files, nil
	}
	files["tokenizer.json"] = tokenizer
	files["tokenizer_config.json"], err = plainJSON(c.tokenizerFields(), "  ")
	return files, err
}

// generationFields are the contents of generation_config.json.
func (c *Checkpoint) generationFields() any {
	f := struct {
		BOS *int32  `json:"bos_token_id,omitempty"`
		EOS []int32 `json:"eos_token_id"`
		Generation
	}{EOS: c.Config.EOS, Generation: c.Generation}
	if c.Config.BOS >= 0 {
		f.BOS = &c.Config.BOS
	}
	return f
}

// tokenizerFields are the contents of tokenizer_config.json.
func (c *Checkpoint) tokenizerFields() map[string]any {
	f := map[string]any{
		"tokenizer_class":              "PreTrainedTokenizerFast",
		"model_max_length":             c.Config.MaxPosition,
		"clean_up_tokenization_spaces": false,
	}
	tokens := map[string]string{"bos_token": c.BOSToken, "eos_token": c.EOSToken}
	if c.Vocab != nil {
		tokens["unk_token"], tokens["pad_token"] = c.Vocab.text(c.Vocab.UNK), c.Vocab.text(c.Vocab.Pad)
	}
	if c.ChatTemplate != "" { // also in its own file, which older libraries do not look for
		f["chat_template"] = c.ChatTemplate
	}
	for name, token := range tokens {
		if token != "" {
			f[name] = token
		}
	}
	if c.AddBOS != nil {
		f["add_bos_token"] = *c.AddBOS
	}
	return f
}

// plainJSON writes JSON without the escapes that are for HTML.
func plainJSON(v any, indent string) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(v)
	return buf.Bytes(), err
}
