package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
)

// Generation holds the sampling defaults that the model's authors recommend, and is what
// generation_config.json has of them as JSON. A nil field was not given.
type Generation struct {
	DoSample          *bool     `json:"do_sample,omitempty"`
	Temperature       *float64  `json:"temperature,omitempty"`
	TopP              *float64  `json:"top_p,omitempty"`
	TopK              *int      `json:"top_k,omitempty"`
	MinP              *float64  `json:"min_p,omitempty"`
	TypicalP          *float64  `json:"typical_p,omitempty"`
	RepetitionPenalty *float64  `json:"repetition_penalty,omitempty"`
	NoRepeatNgram     *int      `json:"no_repeat_ngram_size,omitempty"`
	BadWords          [][]int32 `json:"bad_words_ids,omitempty"`

	Other []string `json:"-"` // names of what else it sets that changes what is generated, in their order
}

// readGeneration reads generation_config.json.
func (c *Checkpoint) readGeneration(fsys fs.FS) error {
	const name = "generation_config.json"
	all, err := readFields(fsys, name)
	if err != nil {
		return err
	}
	var eos tokenIDs
	var g Generation
	for _, field := range []struct {
		name string
		into any
	}{
		{"eos_token_id", &eos}, {"do_sample", &g.DoSample}, {"temperature", &g.Temperature}, {"top_p", &g.TopP}, {"top_k", &g.TopK},
		{"min_p", &g.MinP}, {"typical_p", &g.TypicalP}, {"repetition_penalty", &g.RepetitionPenalty},
		{"no_repeat_ngram_size", &g.NoRepeatNgram}, {"bad_words_ids", &g.BadWords},
	} {
		if err := decodeSetting(all[field.name], field.into); err != nil {
			return fmt.Errorf("%w: %s: %s: %w", ErrFormat, name, field.name, err)
		}
	}
	c.Generation = g
	c.Generation.Other = otherSettings(all)
	if len(eos) > 0 && c.Config.AssumedEOS {
		c.Config.EOS, c.Config.AssumedEOS = nil, false
	}
	c.addEOS(eos...)
	return nil
}

// decodeSetting decodes one that may be missing, unless it is too long for what it says: memory
// is taken for each value.
func decodeSetting(js json.RawMessage, into any) error {
	const maxBytes, maxValues = 1 << 17, 1 << 13
	switch {
	case js == nil:
		return nil
	case len(js) > maxBytes:
		return fmt.Errorf("%d bytes, at most %d are read", len(js), maxBytes)
	case bytes.Count(js, []byte{','}) >= maxValues:
		return fmt.Errorf("more than %d values", maxValues)
	}
	if err := json.Unmarshal(js, into); err != nil {
		return fmt.Errorf("%.200s", err) // cut: it may have a number of many digits
	}
	return nil
}

// neutral are further settings of generation_config.json that change what is
// generated, with the value that does not.
var neutral = map[string]string{
	"num_beams": "1", "num_beam_groups": "1", "penalty_alpha": "0", "guidance_scale": "1", "dola_layers": "",
	"epsilon_cutoff": "0", "eta_cutoff": "0", "top_h": "1",
	"encoder_repetition_penalty": "1", "encoder_no_repeat_ngram_size": "0",
	"min_length": "0", "min_new_tokens": "0", "exponential_decay_length_penalty": "", "sequence_bias": "",
	"suppress_tokens": "[]", "begin_suppress_tokens": "[]", "forced_bos_token_id": "", "forced_eos_token_id": "",
	"watermarking_config": "", "stop_strings": "",
}

// otherSettings names those of neutral that are set to something else.
func otherSettings(all map[string]json.RawMessage) []string {
	var names []string
	for name, none := range neutral {
		value := bytes.TrimSuffix(all[name], []byte(".0"))
		if len(value) > 0 && string(value) != "null" && string(value) != none {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
