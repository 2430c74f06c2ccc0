package test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The texts of a prompt and their log-probabilities are the same alone and among 40
// other requests of every kind, in small batches and a cache that is too small. Both
// run with one page size: that alone may change the last bits of a logit.
func TestCompanyChangesNothing(t *testing.T) {
	t.Parallel()
	alone := generateJSON(t, "", "--seed", "7", "--temperature", "0.8", "--top-p", "0.9", "--n", "3", "--logprobs", "5", "--max-new-tokens", "60",
		"--page-size", "8", "--prompt", "One day")
	lines := []string{`{"request_id":"prompt-1","prompt":"One day","temperature":0.8,"top_p":0.9,"n":3,"logprobs":5,"max_new_tokens":60}`}
	kinds := []string{
		`"temperature":0`, `"temperature":1.2,"top_k":5`, `"min_p":0.1,"repetition_penalty":1.2`, `"typical_p":0.8,"presence_penalty":0.5`,
		`"frequency_penalty":0.5,"no_repeat_ngram":2`, `"stop":"the","n":2`, `"bad_words":["the"],"logprobs":0`, `"logit_bias":{"14":2},"prompt_logprobs":true,"logprobs":1`,
	}
	for i := range 40 {
		lines = append(lines, fmt.Sprintf(`{"prompt":"%s","max_new_tokens":%d,%s}`, strings.Repeat("One day, a dog. ", 1+i%7), 5+i, kinds[i%len(kinds)]))
	}
	together := generateJSON(t, strings.Join(lines, "\n"), "--seed", "7", "--requests", "-",
		"--max-requests-per-batch", "9", "--max-batch-tokens", "40", "--num-blocks", "40", "--page-size", "8")
	if len(alone) != 3 || len(together) != 48 {
		t.Fatalf("%d results alone, %d together", len(alone), len(together))
	}
	for _, want := range alone {
		i := slices.IndexFunc(together, func(r result) bool { return r.RequestID == want.RequestID })
		if i < 0 || want.Logprobs == nil {
			t.Fatalf("%s is not there", want.RequestID)
		}
		if got := together[i]; !slices.Equal(got.TokenIDs, want.TokenIDs) || got.Text != want.Text || string(got.Logprobs) != string(want.Logprobs) {
			t.Errorf("%s: alone %v, together %v", want.RequestID, want.TokenIDs, got.TokenIDs)
		}
	}
}
