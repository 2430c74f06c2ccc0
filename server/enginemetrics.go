package server

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cbactor/cbactor/engine"
)

// engineMetrics reads the numbers of engines when they are asked for.
type engineMetrics struct{ models []Model }

var _ prometheus.Collector = (*engineMetrics)(nil)

// number is one that every engine has.
type number struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(*engine.Metrics) float64
}

func newNumber(kind prometheus.ValueType, name, help string, of func(*engine.Metrics) float64) number {
	return number{prometheus.NewDesc(name, help, engineLabelNames, nil), kind, of}
}

const (
	counter = prometheus.CounterValue
	gauge   = prometheus.GaugeValue
)

// numbers are under vLLM's names where it has them, else under ours.
var numbers = []number{
	newNumber(gauge, "vllm:num_requests_running", "Sequences that steps compute.", func(m *engine.Metrics) float64 { return float64(m.Running) }),
	newNumber(gauge, "vllm:num_requests_waiting", "Sequences that wait for a place in a step, and requests in line for room.", func(m *engine.Metrics) float64 { return float64(m.Waiting + m.InLine) }),
	newNumber(gauge, "vllm:kv_cache_usage_perc", "Share of the cache that is in use, from 0 to 1.", func(m *engine.Metrics) float64 {
		return float64(m.Blocks-m.BlocksFree) / float64(max(m.Blocks, 1))
	}),
	newNumber(counter, "vllm:prefix_cache_queries_total", "Tokens of prompts that were looked up in the cache.", func(m *engine.Metrics) float64 { return float64(m.PromptTokens) }),
	newNumber(counter, "vllm:prefix_cache_hits_total", "Tokens of prompts that were found in the cache.", func(m *engine.Metrics) float64 { return float64(m.CachedTokens) }),
	newNumber(counter, "vllm:num_preemptions_total", "Times that a sequence was given up for another one.", func(m *engine.Metrics) float64 { return float64(m.Preemptions) }),
	newNumber(counter, "vllm:prompt_tokens_total", "Tokens of prompts that were computed or found in the cache.", func(m *engine.Metrics) float64 { return float64(m.PromptTokens) }),
	newNumber(counter, "vllm:prompt_tokens_cached_total", "Tokens of prompts that were found in the cache.", func(m *engine.Metrics) float64 { return float64(m.CachedTokens) }),
	newNumber(counter, "vllm:generation_tokens_total", "Tokens that were generated.", func(m *engine.Metrics) float64 { return float64(m.GeneratedTokens) }),

	newNumber(counter, "cbactor_steps_total", "Steps that were computed.", func(m *engine.Metrics) float64 { return float64(m.Steps) }),
	newNumber(counter, "cbactor_step_wait_seconds_total", "Seconds that threads of the CPU waited for a late one, the longest of each step, summed; short ones are not timed.", func(m *engine.Metrics) float64 { return m.Waits.Seconds() }),
	newNumber(gauge, "cbactor_longest_step_wait_seconds", "The longest of these waits since the engine was started.", func(m *engine.Metrics) float64 { return m.LongestWait.Seconds() }),
	newNumber(counter, "cbactor_sequences_accepted_total", "Sequences that were accepted.", func(m *engine.Metrics) float64 { return float64(m.Accepted) }),
	newNumber(gauge, "cbactor_sequences_open", "Sequences that have not ended.", func(m *engine.Metrics) float64 { return float64(m.Open) }),
	newNumber(gauge, "cbactor_blocks", "Blocks of the cache.", func(m *engine.Metrics) float64 { return float64(m.Blocks) }),
	newNumber(gauge, "cbactor_blocks_free", "Blocks of the cache that can be had, shared ones that rest among them.", func(m *engine.Metrics) float64 { return float64(m.BlocksFree) }),
	newNumber(gauge, "cbactor_host_blocks", "Blocks of the host pool.", func(m *engine.Metrics) float64 { return float64(m.HostBlocks) }),
	newNumber(gauge, "cbactor_host_blocks_free", "Blocks of the host pool that are free.", func(m *engine.Metrics) float64 { return float64(m.HostBlocksFree) }),
	newNumber(gauge, "cbactor_pause_holders", "Who holds a pause.", func(m *engine.Metrics) float64 { return float64(m.Holders) }),
	newNumber(counter, "cbactor_weight_updates_total", "Times that other weights began to serve, rollbacks among them.", func(m *engine.Metrics) float64 { return float64(m.Updates) }),
}

// Those that have a further label.
var (
	succeededDesc = prometheus.NewDesc("vllm:request_success_total", "Sequences that ended, by why, in vLLM's words.", append(slices.Clone(engineLabelNames), "finished_reason"), nil)
	endedDesc     = prometheus.NewDesc("cbactor_sequences_ended_total", "Sequences that ended, by why.", append(slices.Clone(engineLabelNames), "reason"), nil)
	executorDesc  = prometheus.NewDesc("cbactor_executor_info", "What computes: its device, in what numbers, and how many ranks.", append(slices.Clone(engineLabelNames), "executor"), nil)
	modeDesc      = prometheus.NewDesc("cbactor_engine_mode_info", "What the engine does: running, pausing, paused, sleeping, draining, halting, stopped or closed.", append(slices.Clone(engineLabelNames), "mode"), nil)
	versionDesc   = prometheus.NewDesc("cbactor_weight_version_info", "The version of the weights that serve.", append(slices.Clone(engineLabelNames), "version"), nil)
)

// vllmReasons are vLLM's words for why sequences end.
var vllmReasons = map[engine.FinishReason]string{
	engine.FinishStop: "stop", engine.FinishLength: "length", engine.FinishFailed: "error",
	engine.FinishCancelled: "abort", engine.FinishAborted: "abort", engine.FinishDeadline: "abort", engine.FinishStale: "abort",
}

// Describe implements prometheus.Collector.
func (c *engineMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, n := range numbers {
		to <- n.desc
	}
	for _, d := range []*prometheus.Desc{succeededDesc, endedDesc, executorDesc, modeDesc, versionDesc} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (c *engineMetrics) Collect(to chan<- prometheus.Metric) {
	for _, model := range c.models {
		m := model.Engine.Metrics()
		labels := engineLabels(model.Name)
		send := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, further ...string) {
			to <- prometheus.MustNewConstMetric(d, kind, v, append(labels[:len(labels):len(labels)], further...)...)
		}
		for _, n := range numbers {
			send(n.desc, n.kind, n.of(&m))
		}
		theirs := map[string]int64{}
		for reason, word := range vllmReasons {
			theirs[word] += m.Ended[reason]
			send(endedDesc, counter, float64(m.Ended[reason]), string(reason))
		}
		for word, n := range theirs {
			send(succeededDesc, counter, float64(n), word)
		}
		send(executorDesc, gauge, 1, model.Engine.Info().Executor)
		send(modeDesc, gauge, 1, m.Mode)
		send(versionDesc, gauge, 1, m.Version)
	}
}
