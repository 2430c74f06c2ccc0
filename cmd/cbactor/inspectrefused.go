package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// isRefusal tells that an error says what a model is refused for.
func isRefusal(err error) bool {
	reasons := []error{
		model.ErrConfig, model.ErrUnsupported, checkpoint.ErrFormat,
		weights.ErrMissing, weights.ErrUnknown, weights.ErrShape, weights.ErrTied, weights.ErrRead,
	}
	return slices.ContainsFunc(reasons, func(reason error) bool { return errors.Is(err, reason) })
}

// refusedModel is what is shown of a model that is refused: what its files say and have.
type refusedModel struct {
	Name     string             `json:"name"`
	Path     string             `json:"path"`
	Refused  string             `json:"refused"` // why
	Says     []option           `json:"says"`    // of its family and sizes, by the names in the files
	Storage  storage            `json:"storage"`
	Metadata []checkpoint.Entry `json:"metadata,omitempty"`
	Tensors  []tensorInfo       `json:"tensors,omitempty"`
}

// inspectRefused shows what can be read of a model, unless that is nothing, and gives the
// reason why it is refused.
func (c *cli) inspectRefused(f *inspectFlags, reason error) error {
	path, err := checkpoint.Resolve(f.engine.model)
	if err != nil {
		return reason
	}
	// What cannot be read of the files is the reason, or is told by what is not shown.
	metadata, unread := checkpoint.Metadata(path)
	found, untold := checkpoint.Survey(path)
	if unread != nil && untold != nil {
		return reason
	}
	all := refusedModel{Name: f.engine.model, Path: path, Refused: reason.Error(), Says: sayings(metadata)}
	tensors := make([]tensorInfo, len(found))
	for i, t := range found {
		tensors[i] = tensorInfo{t.Name, t.Type, t.Shape, t.Bytes}
	}
	all.Storage = storageOf(tensors)
	if f.metadata {
		all.Metadata = metadata
	}
	if f.tensors {
		all.Tensors = tensors
	}
	if f.json {
		err = c.printJSON(all)
	} else {
		err = c.printText(all.String())
	}
	if err != nil {
		return fmt.Errorf("%w (and %w)", reason, err)
	}
	return reason
}

// String is all of it in lines of text.
func (m refusedModel) String() string {
	rows := [][]string{{"name", m.Name}, {"path", m.Path}}
	for _, o := range m.Says {
		rows = append(rows, []string{o.Name, o.Value})
	}
	return columns("Model, which is refused", rows) + m.Storage.String() + files(m.Metadata, m.Tensors)
}

// sayings are the entries that say something of a model's family and sizes: of config.json,
// also of its text_config, and, behind the name of the architecture, of GGUF.
func sayings(metadata []checkpoint.Entry) []option {
	names := []string{
		"model_type", "architectures", "general.architecture", "vocab_size", "quantization_config",
		"num_hidden_layers", "hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads", "head_dim", "max_position_embeddings",
		"block_count", "embedding_length", "feed_forward_length", "attention.head_count", "attention.head_count_kv", "context_length",
	}
	list := []option{}
	for _, e := range metadata {
		_, behind, _ := strings.Cut(e.Key, ".")
		if slices.Contains(names, e.Key) || slices.Contains(names, behind) {
			list = append(list, option{e.Key, e.Value})
		}
	}
	return list
}
