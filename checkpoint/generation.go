package checkpoint

import (
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
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
	var g struct {
		EOS tokenIDs `json:"eos_token_id"`
		Generation
	}
	var all map[string]json.RawMessage
	for _, v := range []any{&g, &all} {
		if err := readJSON(fsys, "generation_config.json", maxConfigFile, v); err != nil {
			return err
		}
	}
	c.Generation = g.Generation
	c.Generation.Other = otherSettings(all)
	if len(g.EOS) > 0 && c.Config.AssumedEOS {
		c.Config.EOS, c.Config.AssumedEOS = nil, false
	}
	c.addEOS(g.EOS...)
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
		value := strings.TrimSuffix(string(all[name]), ".0")
		if value != "" && value != "null" && value != none {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
