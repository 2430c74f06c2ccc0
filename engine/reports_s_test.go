package engine

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// S7 (vllm#5349): what penalties count as generated stays so behind a preemption, which
// makes one text of prompt and tokens for the cache: the ids are those of each request
// alone.
func TestReportS7PenaltiesSurviveAPreemption(t *testing.T) {
	cases := goldenCases(t)
	requests := func(p sampling.Params) (all []Request) {
		for i := range 4 {
			all = append(all, Request{PromptIDs: slices.Concat(cases[i].PromptIDs, cases[i].Greedy[:12]), MaxNewTokens: 40, IgnoreEOS: true, Sampling: p})
		}
		return all
	}
	wide, narrow := spawnTiny(t, Config{}), spawnTiny(t, Config{PageSize: 16, NumBlocks: 8})
	plain := generate(t, wide, requests(sampling.Params{}))
	for name, p := range map[string]sampling.Params{
		"presence":   {PresencePenalty: 1.5},
		"frequency":  {FrequencyPenalty: 1},
		"repetition": {RepetitionPenalty: 1.4},
		"n-grams":    {NoRepeatNgram: 2},
	} {
		preempted, changed := 0, false
		together := generate(t, narrow, requests(p))
		for i, r := range requests(p) {
			alone := generate(t, wide, []Request{r})[0]
			if !slices.Equal(together[i].TokenIDs, alone.TokenIDs) {
				t.Errorf("%s: request %d, given up %d times, got %v, alone %v", name, i, together[i].Preemptions, together[i].TokenIDs, alone.TokenIDs)
			}
			preempted += together[i].Preemptions
			changed = changed || !slices.Equal(alone.TokenIDs, plain[i].TokenIDs)
		}
		if preempted == 0 || !changed {
			t.Errorf("%s: given up %d times, changed anything: %v", name, preempted, changed)
		}
	}
}

func generate(t *testing.T, e *Engine, requests []Request) []Output {
	t.Helper()
	outs, err := e.GenerateBatch(t.Context(), requests, BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return outs
}

// S12: a stream that nobody reads costs the others nothing: in virtual time, where a
// step takes 10 ms, they end at the same moment as when it is read. It keeps no more
// than its tokens, and gives them when somebody comes.
func TestReportS12ASlowReaderHoldsUpNobody(t *testing.T) {
	took := map[bool]time.Duration{}
	for _, read := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			e, err := Spawn(t.Context(), Config{Executor: executor.NewEcho(executor.EchoConfig{Blocks: 256, Delay: func(*executor.Batch) { time.Sleep(10 * time.Millisecond) }})})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := e.Close(); err != nil {
					t.Error(err)
				}
				time.Sleep(time.Second) // what the actor library started for late messages ends
			}()
			h := pause(t, e, PauseOptions{}) // all are in the same steps both times
			slow := mustAdd(t, e, Request{PromptIDs: ids(20, 0), MaxNewTokens: 1500})
			if read {
				go slow.Wait(t.Context())
			}
			var others []*Stream
			for i := range 5 {
				others = append(others, mustAdd(t, e, Request{PromptIDs: ids(20, 1+i), MaxNewTokens: 200}))
			}
			synctest.Wait()
			release(t, h)
			began := time.Now()
			for _, s := range others {
				if out := s.Wait(t.Context()); out.FinishReason != FinishLength {
					t.Errorf("another one ended %s", out.FinishReason)
				}
			}
			took[read] = time.Since(began)
			if read {
				return
			}
			time.Sleep(time.Minute)
			if c, err := slow.Recv(t.Context()); err != nil || len(c.TokenIDs) != 1500 || c.Final == nil {
				t.Errorf("the slow one reads %d tokens, %v", len(c.TokenIDs), err)
			}
		})
	}
	if took[true] != took[false] {
		t.Errorf("the others took %v beside a slow reader, else %v", took[false], took[true])
	}
}
