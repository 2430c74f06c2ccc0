package checkpoint

import (
	"reflect"
	"testing"
	"testing/fstest"
)

// What a model recommends is read, and what of it nobody reads is named, unless it
// says what would be anyway.
func TestGenerationSettings(t *testing.T) {
	c, err := openFolder(folder(t, map[string]*fstest.MapFile{"generation_config.json": file(`{
		"do_sample": true, "temperature": 0.5, "typical_p": 0.9, "repetition_penalty": 1.1, "no_repeat_ngram_size": 3, "bad_words_ids": [[1], [2, 3]],
		"num_beams": 4, "guidance_scale": 1.0, "eta_cutoff": 0.0, "epsilon_cutoff": 0.0003, "sequence_bias": null, "suppress_tokens": [], "transformers_version": "5.0"}`)}))
	if err != nil {
		t.Fatal(err)
	}
	g := c.Generation
	if !*g.DoSample || *g.Temperature != 0.5 || *g.TypicalP != 0.9 || *g.RepetitionPenalty != 1.1 || *g.NoRepeatNgram != 3 || g.TopK != nil || g.MinP != nil {
		t.Errorf("%+v", g)
	}
	if want := [][]int32{{1}, {2, 3}}; !reflect.DeepEqual(g.BadWords, want) {
		t.Errorf("bad words %v, want %v", g.BadWords, want)
	}
	if want := []string{"epsilon_cutoff", "num_beams"}; !reflect.DeepEqual(g.Other, want) {
		t.Errorf("others %v, want %v", g.Other, want)
	}
}
