package updates

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/cbactor/cbactor/engine"
)

// Report is what a Run has measured.
type Report struct {
	Requests     int     `json:"requests"`
	Updates      int     `json:"updates"`
	EverySeconds float64 `json:"every_s"`
	Bytes        int     `json:"bytes"` // of an update

	QuietPerS   float64 `json:"quiet_tokens_per_s"`   // without updates
	UpdatesPerS float64 `json:"updates_tokens_per_s"` // while there are updates
	Ratio       float64 `json:"throughput_ratio"`     // of the second to the first

	Quiet   Gaps `json:"gap_quiet"`   // between two tokens of a request, without updates
	Beside  Gaps `json:"gap_updates"` // while there are updates
	Commits Gaps `json:"gap_commits"` // before a token that is the first of new weights
	Added   Gaps `json:"gap_added"`   // by which those are longer than half of the quiet ones

	FirstSeconds float64 `json:"first_s"` // of the update beforehand, whose memory the others use again
	StageSeconds float64 `json:"stage_s"` // of an update, on average: until all is staged and checked
	ReadySeconds float64 `json:"ready_s"` // then, until no step computes with older weights
	StagePerS    float64 `json:"stage_bytes_per_s"`

	Pauses Gaps `json:"pauses"` // from the call until no step runs
	Delta
	Overwrite

	sent []sent
}

// Gaps are times between tokens, in milliseconds.
type Gaps struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50_ms"`
	P99   float64 `json:"p99_ms"`
	Most  float64 `json:"most_ms"`
}

func gapsOf(times []time.Duration) Gaps {
	if len(times) == 0 {
		return Gaps{}
	}
	slices.Sort(times)
	at := func(q float64) float64 { return milliseconds(times[int(q*float64(len(times)-1))]) }
	return Gaps{len(times), at(0.5), at(0.99), at(1)}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// tokens are what was counted of a part.
type tokens struct {
	count int
	gaps  []time.Duration
}

// count makes the report of outputs and the borders between quiet time, updates and
// quiet time.
func (r *Report) count(outputs []engine.Output, borders [4]time.Time) {
	var parts [3]tokens
	var commits []time.Duration
	for _, out := range outputs {
		first := map[int]bool{}
		for _, s := range out.WeightVersions {
			first[s.Start] = s.Start > 0
		}
		for i, at := range out.Timing.Tokens {
			part := partOf(at, borders)
			if part < 0 {
				continue
			}
			parts[part].count++
			if i == 0 || partOf(out.Timing.Tokens[i-1], borders) != part {
				continue
			}
			gap := at.Sub(out.Timing.Tokens[i-1])
			parts[part].gaps = append(parts[part].gaps, gap)
			if first[i] && part > 0 { // not of the update beforehand
				commits = append(commits, gap)
			}
		}
	}
	quiet := borders[1].Sub(borders[0]) + borders[3].Sub(borders[2])
	r.QuietPerS = float64(parts[0].count+parts[2].count) / quiet.Seconds()
	r.UpdatesPerS = float64(parts[1].count) / borders[2].Sub(borders[1]).Seconds()
	r.Ratio = r.UpdatesPerS / r.QuietPerS
	r.Quiet, r.Beside = gapsOf(slices.Concat(parts[0].gaps, parts[2].gaps)), gapsOf(parts[1].gaps)
	r.Commits, r.Added = gapsOf(commits), gapsOf(commits)
	for _, q := range []*float64{&r.Added.P50, &r.Added.P99, &r.Added.Most} {
		*q -= r.Quiet.P50
	}
	n := float64(len(r.sent))
	for _, u := range r.sent {
		r.StageSeconds += u.stage.Seconds() / n
		r.ReadySeconds += u.ready.Seconds() / n
	}
	r.StagePerS = float64(r.Bytes) / r.StageSeconds
}

// partOf is the part that a moment lies in, -1: none.
func partOf(at time.Time, borders [4]time.Time) int {
	for part := range borders[1:] {
		if !at.Before(borders[part]) && at.Before(borders[part+1]) {
			return part
		}
	}
	return -1
}

// Write prints the report as a table.
func (r *Report) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	gaps := func(name string, g Gaps) {
		row(name, "half within %.1f ms, 99 %% within %.1f ms, all within %.1f ms, of %d", g.P50, g.P99, g.Most, g.Count)
	}
	row("load", "%d requests decode, %d updates of %.1f MB, one every %g s", r.Requests, r.Updates, megabytes(float64(r.Bytes)), r.EverySeconds)
	row("throughput", "%.1f tokens/s with updates, %.1f without: %.3f times", r.UpdatesPerS, r.QuietPerS, r.Ratio)
	gaps("token gaps, quiet", r.Quiet)
	gaps("token gaps, updates", r.Beside)
	gaps("gaps at new weights", r.Commits)
	gaps("more than quiet p50", r.Added)
	row("staging", "%.0f MB/s: %.2f s for an update, then %.2f s until it computes", megabytes(r.StagePerS), r.StageSeconds, r.ReadySeconds)
	row("an update beforehand", "%.2f s, with memory that was never used", r.FirstSeconds)
	row("pauses", "half begin within %.1f ms, 99 %% within %.1f ms, all within %.1f ms, of %d", r.Pauses.P50, r.Pauses.P99, r.Pauses.Most, r.Pauses.Count)
	row("some tensors", "%.1f MB: %.2f s for an update, then %.2f s until it computes; %d tokens to compute again", megabytes(float64(r.Delta.Bytes)), r.Delta.StageSeconds, r.Delta.ReadySeconds, r.Delta.Recomputed)
	row("one set overwritten", "%.0f MB/s, a plain copy %.0f MB/s: %.2f times; nothing computes for %.2f s", megabytes(r.OverwritePerS), megabytes(r.CopyPerS), r.Share, r.PauseSeconds)
	return t.Flush()
}

func megabytes(bytes float64) float64 { return bytes / 1e6 }
