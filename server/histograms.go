package server

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cbactor/cbactor/engine/texts"
)

// The histograms of sequences, with the names, labels and buckets of vLLM 0.33
// (vllm/v1/metrics/loggers.py and buckets.py). They are observed when a sequence has ended.

// Buckets, in seconds where they are times.
var (
	firstTokenBuckets  = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	tokenBuckets       = []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	requestBuckets     = []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	countBuckets       = []float64{1, 2, 5, 10, 20}
	preemptionBuckets  = []float64{1, 2, 3, 4, 5, 10, 20}
	lengthBuckets      []float64 // nil: by the context of the model
	engineLabelNames   = []string{"model_name", "engine"}
	theOnlyEngineLabel = "0" // a model of ours has one
)

func engineLabels(model string) []string { return []string{model, theOnlyEngineLabel} }

// histogram is one of them, and what it has of a sequence; false: nothing.
type histogram struct {
	name    string
	help    string
	buckets []float64
	of      func(*texts.Request, *texts.Output) (float64, bool)
}

var histograms = []histogram{
	{"vllm:time_to_first_token_seconds", "Time from the acceptance of a request to its first token.", firstTokenBuckets, func(_ *texts.Request, o *texts.Output) (float64, bool) {
		return inSeconds(o.Timing.Created, o.Timing.First)
	}},
	{"vllm:e2e_request_latency_seconds", "Time from the acceptance of a request to its end.", requestBuckets, func(_ *texts.Request, o *texts.Output) (float64, bool) {
		return inSeconds(o.Timing.Created, o.Timing.Ended)
	}},
	{"vllm:request_queue_time_seconds", "Time that a request waited to be begun.", requestBuckets, func(_ *texts.Request, o *texts.Output) (float64, bool) {
		return inSeconds(o.Timing.Created, o.Timing.Started)
	}},
	{"vllm:request_inference_time_seconds", "Time from when a request was begun to its end.", requestBuckets, func(_ *texts.Request, o *texts.Output) (float64, bool) {
		return inSeconds(o.Timing.Started, o.Timing.Ended)
	}},
	{"vllm:request_prefill_time_seconds", "Time from when a request was begun to its first token.", requestBuckets, func(_ *texts.Request, o *texts.Output) (float64, bool) {
		return inSeconds(o.Timing.Started, o.Timing.First)
	}},
	{"vllm:request_decode_time_seconds", "Time from the first token of a request to its end.", requestBuckets, func(_ *texts.Request, o *texts.Output) (float64, bool) {
		return inSeconds(o.Timing.First, o.Timing.Ended)
	}},
	{"vllm:request_time_per_output_token_seconds", "Mean time between the tokens of a request.", tokenBuckets, func(_ *texts.Request, o *texts.Output) (float64, bool) {
		s, is := inSeconds(o.Timing.First, o.Timing.Ended)
		n := o.Usage.CompletionTokens - 1
		return s / float64(max(n, 1)), is && n > 0
	}},
	{"vllm:request_prompt_tokens", "Tokens of the prompts of requests.", lengthBuckets, func(_ *texts.Request, o *texts.Output) (float64, bool) {
		return float64(o.Usage.PromptTokens), true
	}},
	{"vllm:request_generation_tokens", "Tokens that requests generated.", lengthBuckets, func(_ *texts.Request, o *texts.Output) (float64, bool) {
		return float64(o.Usage.CompletionTokens), true
	}},
	{"vllm:request_prefill_kv_computed_tokens", "Tokens of prompts that no cache had.", lengthBuckets, func(_ *texts.Request, o *texts.Output) (float64, bool) {
		return float64(o.Usage.PromptTokens - o.Usage.CachedTokens), true
	}},
	{"vllm:request_params_n", "Sequences that requests asked for.", countBuckets, func(r *texts.Request, _ *texts.Output) (float64, bool) {
		return float64(max(r.N, 1)), true
	}},
	{"vllm:request_params_max_tokens", "Most tokens that requests asked for.", lengthBuckets, func(r *texts.Request, _ *texts.Output) (float64, bool) {
		return float64(r.MaxNewTokens), r.MaxNewTokens > 0
	}},
	{"vllm:request_num_preemptions", "Times that a request was given up for another one.", preemptionBuckets, func(_ *texts.Request, o *texts.Output) (float64, bool) {
		return float64(o.Preemptions), true
	}},
}

// interTokenLatency has many values of a sequence.
var interTokenLatency = histogram{name: "vllm:inter_token_latency_seconds", help: "Time between two tokens of a request.", buckets: tokenBuckets}

// vec makes it, for models of at most so much context.
func (h histogram) vec(context int) *prometheus.HistogramVec {
	buckets := h.buckets
	if buckets == nil {
		buckets = lengths(context)
	}
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: h.name, Help: h.help, Buckets: buckets}, engineLabelNames)
}

// lengths are buckets for numbers of tokens: 1, 2, 5, 10, … up to most.
func lengths(most int) (list []float64) {
	for power := 1; ; power *= 10 {
		for _, m := range []int{1, 2, 5} {
			if m*power > most {
				return list
			}
			list = append(list, float64(m*power))
		}
	}
}

func inSeconds(a, b time.Time) (float64, bool) {
	d, is := since(a, b)
	return d.Seconds(), is
}

// sequenceMeters measure the sequences of a model.
type sequenceMeters struct {
	list []meter
	gaps prometheus.Observer // between tokens
}

type meter struct {
	to prometheus.Observer
	of func(*texts.Request, *texts.Output) (float64, bool)
}

// observe measures a sequence that has ended.
func (m *sequenceMeters) observe(r *texts.Request, out *texts.Output) {
	for _, one := range m.list {
		if v, is := one.of(r, out); is {
			one.to.Observe(v)
		}
	}
	moments := out.Timing.Tokens
	for i := 1; i < len(moments); i++ {
		m.gaps.Observe(moments[i].Sub(moments[i-1]).Seconds())
	}
}
