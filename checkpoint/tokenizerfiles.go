package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
)

// tokenizerConfig is what is used of tokenizer_config.json.
type tokenizerConfig struct {
	BOS          tokenText    `json:"bos_token"`
	EOS          tokenText    `json:"eos_token"`
	AddBOS       *bool        `json:"add_bos_token"`
	ChatTemplate chatTemplate `json:"chat_template"`
}

// tokenText is a token given as text or as an object with its "content".
type tokenText string

func (t *tokenText) UnmarshalJSON(js []byte) error {
	if len(js) > 0 && js[0] == '{' {
		var added struct {
			Content string `json:"content"`
		}
		err := json.Unmarshal(js, &added)
		*t = tokenText(added.Content)
		return err
	}
	return json.Unmarshal(js, (*string)(t))
}

// chatTemplate is a template or a list of named ones, of which "default" is taken.
type chatTemplate string

func (t *chatTemplate) UnmarshalJSON(js []byte) error {
	if len(js) == 0 || js[0] != '[' {
		return json.Unmarshal(js, (*string)(t))
	}
	list := json.NewDecoder(bytes.NewReader(js)) // one by one, as only one is kept
	if _, err := list.Token(); err != nil {
		return err
	}
	for list.More() {
		var named struct{ Name, Template string }
		if err := list.Decode(&named); err != nil {
			return err
		}
		if named.Name == "default" {
			*t = chatTemplate(named.Template)
		}
	}
	return nil
}

// readText reads the tokenizer's files and the chat template.
func (c *Checkpoint) readText(fsys fs.FS) error {
	var err error
	if c.TokenizerJSON, _, err = readSmall(fsys, "tokenizer.json", maxTokenizerFile); err != nil {
		return err
	}
	var config tokenizerConfig
	if err := readJSON(fsys, "tokenizer_config.json", maxTextConfig, &config); err != nil {
		return err
	}
	c.BOSToken, c.EOSToken = string(config.BOS), string(config.EOS)
	c.AddBOS = config.AddBOS
	c.ChatTemplate = string(config.ChatTemplate)
	jinja, ok, err := readSmall(fsys, "chat_template.jinja", maxTemplateFile)
	if err != nil {
		return err
	}
	if ok {
		c.ChatTemplate = string(jinja)
	}
	if c.EOSToken == "" || c.TokenizerJSON == nil {
		return nil
	}
	id, err := lookUpToken(c.TokenizerJSON, c.EOSToken)
	if err != nil {
		return fmt.Errorf("%w: tokenizer.json: %w", ErrFormat, err)
	}
	c.addEOS(id)
	return nil
}
