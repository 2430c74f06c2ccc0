package model

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Each hostile config.json is an error of one line that says what is wrong, and takes at most
// twice its bytes and 1 MiB.
func TestHostileConfigs(t *testing.T) {
	// A field that is there twice counts as it is the last time, as in the reference.
	with := func(fields string) string {
		return strings.Replace(string(llamaJSON(t, nil)), "}", ","+fields+"}", 1)
	}
	mistral := func(fields string) string {
		return with(`"architectures":null,"model_type":"mistral",` + fields)
	}
	sparse := func(fields string) string {
		return with(`"architectures":null,"model_type":"qwen3_moe",` + fields)
	}
	nested := func(open, closing string, n int) string { return strings.Repeat(open, n) + strings.Repeat(closing, n) }
	var many strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&many, `"%x":0,`, i)
	}
	for name, test := range map[string]struct{ js, says string }{
		"nothing":              {"", "end of JSON"},
		"zeros":                {strings.Repeat("\x00", 1<<20), "invalid"},
		"spaces":               {strings.Repeat(" ", 1<<20), "end of JSON"},
		"null":                 {"null", "neither"},
		"a list":               {"[]", "array"},
		"cut":                  {with(`"x":1`)[:100], "end of JSON"},
		"junk behind":          {with(`"x":1`) + "x", "after top-level"},
		"not UTF-8":            {"\xff\xfe{}", "invalid"},
		"deep lists":           {with(`"x":` + nested("[", "]", 100_000)), "depth"},
		"deep objects":         {with(`"rope_scaling":` + nested(`{"a":`, "}", 100_000)), "invalid"},
		"many fields":          {"{" + many.String() + `"x":0}`, "fields"},
		"many in rope":         {with(`"rope_scaling":{` + many.String() + `"x":0}`), "fields"},
		"NaN":                  {with(`"rms_norm_eps":NaN`), "invalid"},
		"infinite":             {with(`"rope_theta":Infinity`), "invalid"},
		"beyond a float":       {with(`"rope_theta":1e400`), "rope_theta"},
		"next to nothing":      {with(`"rms_norm_eps":1e-400`), "epsilon"},
		"beyond a size":        {with(`"hidden_size":99999999999999999999999`), "hidden_size"},
		"a huge size":          {with(`"vocab_size":9007199254740993`), "vocab_size"},
		"a float for a size":   {with(`"num_hidden_layers":4.5`), "num_hidden_layers"},
		"an exponent":          {with(`"num_hidden_layers":1e9`), "num_hidden_layers"},
		"a text for a size":    {with(`"num_attention_heads":"4"`), "num_attention_heads"},
		"a list for a size":    {with(`"num_attention_heads":[4]`), "num_attention_heads"},
		"a bool for a size":    {with(`"hidden_size":true`), "hidden_size"},
		"an object for a bool": {with(`"tie_word_embeddings":{}`), "tie_word_embeddings"},
		"a text for a list":    {with(`"architectures":"LlamaForCausalLM"`), "architectures"},
		"a number for rope":    {with(`"rope_scaling":7`), "rope_scaling"},
		"a list for rope":      {with(`"rope_parameters":[{}]`), "rope_parameters"},
		"a number for a kind":  {with(`"rope_scaling":{"rope_type":3}`), "rope_type"},
		"a huge context":       {with(`"rope_scaling":{"type":"yarn","factor":2,"original_max_position_embeddings":1e30}`), "original_max_position_embeddings"},
		"a huge factor":        {with(`"rope_scaling":{"type":"linear","factor":1e300}`), "factor"},
		"text of an end token": {with(`"eos_token_id":"</s>"`), "eos_token_id"},
		"a float of end token": {with(`"eos_token_id":[1.5]`), "eos_token_id"},
		"a huge end token":     {with(`"eos_token_id":4294967298`), "eos_token_id"},
		"the last size counts": {with(`"hidden_size":0`), "hidden_size"},
		"a long name":          {with(`"architectures":["` + strings.Repeat("A", 1<<20) + `"]`), "architectures has"},
		"a line in a name":     {with(`"architectures":["a\nb"]`), "not known"},
		"layer types":          {with(`"layer_types":[1]`), "layer_types"},
		"many layer types":     {with(`"layer_types":[` + strings.Repeat(`"",`, 300_000) + `""]`), "layer_types has"},
		"some layer types":     {with(`"layer_types":[` + strings.Repeat(`"",`, 10_000) + `""]`), "layer_types has 10001 values"},
		"many of a window":     {mistral(`"layer_types":[` + strings.Repeat(`"",`, 300_000) + `""]`), "layer_types has"},
		"many architectures":   {`{"architectures":[` + strings.Repeat(`"",`, 300_000) + `""]}`, "architectures has"},
		"many dense layers":    {sparse(`"mlp_only_layers":[` + strings.Repeat("0,", 500_000) + "0]"), "mlp_only_layers has"},
		"many end tokens":      {with(`"eos_token_id":[` + strings.Repeat("0,", 500_000) + "0]"), "eos_token_id has"},
		"many foreign values":  {with(`"clip_qkv":[` + strings.Repeat("{},", 300_000) + "0]"), "clip_qkv [{},{},"},
		"a foreign object":     {with(`"per_layer_config":{` + many.String() + `"x":0}`), "per_layer_config {"},
		"a long foreign text":  {with(`"hidden_act":"` + strings.Repeat(`\u0041`, 200_000) + `"`), "hidden_act"},
		"a number of digits":   {with(`"num_attention_heads":` + strings.Repeat("1", 1<<20)), "num_attention_heads has"},
		"some more digits":     {with(`"num_attention_heads":` + strings.Repeat("1", 1<<16)), "num_attention_heads: json"},
		"quantisation":         {with(`"quantization_config":[]`), "quantization_config"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ParseConfig([]byte(test.js))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrConfig) && !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: got %.300v, want one that says %q", name, err, test.says)
		}
		if err != nil && (strings.Contains(err.Error(), "\n") || len(err.Error()) > 1000) {
			t.Errorf("%s: the error has %d bytes, or more than one line", name, len(err.Error()))
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > uint64(3*len(test.js)+1<<20) { // the copy that is parsed, too
			t.Errorf("%s: took %d bytes for %d", name, took, len(test.js))
		}
	}
	if c, err := ParseConfig([]byte(with(`"eos_token_id":[3],"hidden_size":128`))); err != nil || c.Hidden != 128 || !slices.Equal(c.EOS, []int32{3}) {
		t.Errorf("fields that are there twice: %+v, %v", c, err)
	}
}
