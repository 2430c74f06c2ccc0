package sim

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// Report is what a simulation found. Times are virtual seconds.
type Report struct {
	Requests  int     `json:"requests"`
	Seconds   float64 `json:"seconds"`
	Steps     int     `json:"steps"`
	Prompt    int     `json:"prompt_tokens"`
	Cached    int     `json:"cached_tokens"` // of the prompts, taken from shared blocks
	Computed  int     `json:"computed_tokens"`
	Generated int     `json:"generated_tokens"`

	FirstMean float64 `json:"first_token_mean"` // from arrival to first token
	FirstP50  float64 `json:"first_token_p50"`
	FirstP99  float64 `json:"first_token_p99"`
	EndMean   float64 `json:"end_mean"` // from arrival to the end
	EndP99    float64 `json:"end_p99"`

	Preempted  int `json:"preempted_requests"`
	Preemption int `json:"preemptions"`
	SwappedOut int `json:"swapped_out_blocks"`
	SwappedIn  int `json:"swapped_in_blocks"`

	Blocks   int     `json:"blocks"`
	UsedMean float64 `json:"used_blocks_mean"` // referenced ones, by time
	UsedMax  int     `json:"used_blocks_max"`

	samples []Sample
	first   []float64
	end     []float64
	bad     error
}

// Sample is the state after a step.
type Sample struct {
	At               float64
	Used             int // blocks that are neither free nor idle
	Waiting, Running int
}

func (r *Report) sample(s Sample) { r.samples = append(r.samples, s) }

func (r *Report) ended(prompt, generated int, first, end float64, t *track) {
	r.Prompt += prompt
	r.Generated += generated
	r.Cached += int(t.cached)
	r.Preemption += int(t.preemptions)
	if t.preemptions > 0 {
		r.Preempted++
	}
	r.first, r.end = append(r.first, first), append(r.end, end)
	if len(r.first) == r.Requests {
		r.summarize()
	}
}

func (r *Report) summarize() {
	slices.Sort(r.first)
	slices.Sort(r.end)
	at := func(sorted []float64, q float64) float64 { return sorted[int(q*float64(len(sorted)-1))] }
	r.FirstMean, r.FirstP50, r.FirstP99 = mean(r.first), at(r.first, 0.5), at(r.first, 0.99)
	r.EndMean, r.EndP99 = mean(r.end), at(r.end, 0.99)
	before, area := 0.0, 0.0
	for _, s := range r.samples {
		area += float64(s.Used) * (s.At - before)
		before = s.At
		r.UsedMax = max(r.UsedMax, s.Used)
	}
	r.UsedMean = area / before
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// Write prints the report as a table.
func (r *Report) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	row("requests", "%d, each with the tokens that it gets alone", r.Requests)
	row("virtual time", "%.2f s in %d steps, %.0f generated tokens/s", r.Seconds, r.Steps, float64(r.Generated)/r.Seconds)
	row("tokens", "%d prompt, %d generated, %d positions computed", r.Prompt, r.Generated, r.Computed)
	row("shared", "%d prompt tokens found in the cache, %.1f %%", r.Cached, 100*float64(r.Cached)/float64(r.Prompt))
	row("first token", "%.3f s after arrival on average, half within %.3f s, 99 %% within %.3f s", r.FirstMean, r.FirstP50, r.FirstP99)
	row("end", "%.3f s after arrival on average, 99 %% within %.3f s", r.EndMean, r.EndP99)
	row("given up", "%d times, %d of the requests", r.Preemption, r.Preempted)
	row("host pool", "%d blocks moved out, %d back", r.SwappedOut, r.SwappedIn)
	row("cache", "%.0f blocks in use on average, %d at most, of %d", r.UsedMean, r.UsedMax, r.Blocks)
	return t.Flush()
}
