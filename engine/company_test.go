package engine

import (
	"errors"
	commandline "flag"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

var companies = commandline.Int("companies", 15, "rounds of TestAloneAndInCompany")

// banner is a processor that makes some ids less likely, by the whole of the history.
type banner struct{}

func (banner) Process(ids []int32, prompt int, logits []float32) error {
	h := uint32(prompt)
	for _, id := range ids {
		h = h*31 + uint32(id)
	}
	for i := range logits {
		if (h>>(i%28))&1 == 1 {
			logits[i] -= 3
		}
	}
	return nil
}

// endAt is a matcher that ends a request with its at-th token.
type endAt struct{ seen, at int }

func (m *endAt) Match(ids []int32) int {
	for i := range ids {
		if m.seen++; m.seen == m.at {
			return i + 1
		}
	}
	return -1
}

// companyVocab is that of the requests of anyRequest.
const companyVocab = 97

// anyRequest is one with some of all that a request can ask for. Some share beginnings.
func anyRequest(r *rand.Rand) Request {
	seed := r.Uint64()
	prompt := make([]int32, 1+r.IntN(60))
	base := int32(r.IntN(3))
	for i := range prompt {
		prompt[i] = (base*7 + int32(i)*3) % companyVocab
	}
	if r.IntN(2) == 0 {
		prompt[len(prompt)-1] = int32(r.IntN(companyVocab))
	}
	q := Request{PromptIDs: prompt, MaxNewTokens: 1 + r.IntN(40), Seed: &seed, Private: r.IntN(5) == 0}
	anyParams(r, &q)
	if r.IntN(8) == 0 {
		q.Score, q.MaxNewTokens, q.Sampling.MinNew = true, 0, 0
		return q
	}
	q.N = max(0, r.IntN(7)-3)
	if r.IntN(4) == 0 {
		at := 1 + r.IntN(10)
		q.Stop = func() Matcher { return &endAt{at: at} }
	}
	return q
}

// anyParams says how q draws, and what it is told.
func anyParams(r *rand.Rand, q *Request) {
	p := &q.Sampling
	p.Tell = sampling.Tell{Logprobs: r.IntN(2) == 0, Kept: r.IntN(6) == 0, Prompt: r.IntN(3) == 0}
	if p.Tell.Logprobs || p.Tell.Prompt {
		p.Tell.Top = int32(r.IntN(4))
	}
	p.Temperature = float32(r.IntN(2))
	switch r.IntN(7) {
	case 0:
		p.Processor = banner{}
	case 1:
		p.FrequencyPenalty, p.PresencePenalty, p.RepetitionPenalty = 2, 1, 1.5
	case 2:
		p.NoRepeatNgram, p.TopP = 2, 0.9
	case 3:
		p.MinNew = int32(min(3, q.MaxNewTokens))
		q.EOS = []int32{1, 2, 3, 4, 5, 6, 7, 8}
	case 4:
		p.Ends = []int32{9, 10, 11, 12, 13, 14, 15, 16}
	}
}

// anyCache is an executor's configuration as short of everything as it may be, beside a
// roomy one of the same model.
func anyCache(r *rand.Rand) (small, roomy executor.EchoConfig) {
	roomy = executor.EchoConfig{Vocab: companyVocab, PageSize: 4, Context: 120, Blocks: 4000, Slots: 64, Tokens: 4000}
	if r.IntN(3) == 0 {
		roomy.Windows = []int{0, 8}
	}
	small = roomy
	small.Blocks, small.Slots, small.Tokens = 31+r.IntN(40), 2+r.IntN(10), 12+r.IntN(40)
	small.Outstanding = 1 + r.IntN(2)
	small.HostBlocks, small.Overlap = r.IntN(2)*(10+r.IntN(60)), r.IntN(2) == 0
	small.CopyCost = float64(r.IntN(2)) * 0.5
	return small, roomy
}

// What comes of a request is the same alone in a roomy cache and among others in a small
// one, whatever it asks for: tokens, log-probabilities, kept sets, how it ends.
func TestAloneAndInCompany(t *testing.T) {
	preempted := 0
	for range *companies {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 0))
		list := make([]Request, 25)
		for i := range list {
			list[i] = anyRequest(r)
		}
		small, roomy := anyCache(r)
		policy := []string{"fifo", "fifo", "fifo", "prefill_first", "priority"}[r.IntN(5)]
		var want []Output
		alone := spawnEcho(t, roomy, Config{})
		for _, q := range list {
			outs, err := alone.GenerateBatch(t.Context(), []Request{q}, BatchOptions{})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			want = append(want, outs...)
		}
		crowd := spawnEcho(t, small, Config{SchedulerType: policy})
		got, err := crowd.GenerateBatch(t.Context(), list, BatchOptions{})
		if err := errors.Join(err, alone.Close(), crowd.Close()); err != nil {
			t.Fatalf("seed %d, %+v: %v", seed, small, err)
		}
		for i := range got {
			preempted += got[i].Preemptions
			if !sameOutput(&got[i], &want[i]) {
				t.Fatalf("seed %d, %+v, output %d:\n got %+v\nwant %+v", seed, small, i, got[i], want[i])
			}
		}
	}
	t.Logf("%d rounds, given up %d times", *companies, preempted)
	if preempted == 0 {
		t.Error("nobody was given up: the caches are not small enough")
	}
}

func sameOutput(a, b *Output) bool {
	return a.FinishReason == b.FinishReason && a.Matched == b.Matched && (a.Err == nil) == (b.Err == nil) && slices.Equal(a.TokenIDs, b.TokenIDs) &&
		reflect.DeepEqual(a.Logprobs, b.Logprobs) && reflect.DeepEqual(a.PromptLogprobs, b.PromptLogprobs)
}
