package tiny

import "embed"

// FS has the model's folder at its root: config.json, model.safetensors,
// tokenizer.json and the small files beside them.
//
//go:embed config.json generation_config.json chat_template.jinja model.safetensors tokenizer.json tokenizer_config.json
var FS embed.FS
