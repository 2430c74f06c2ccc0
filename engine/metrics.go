package engine

import "time"

// Metrics are an engine's numbers: sums since Spawn, over all sessions, and what is now. They
// are read one after the other while it runs.
type Metrics struct {
	Accepted        int64                  `json:"sequences_accepted"`
	Ended           map[FinishReason]int64 `json:"sequences_ended"`
	PromptTokens    int64                  `json:"prompt_tokens"`        // of requests whose prompt was computed, each once
	CachedTokens    int64                  `json:"prompt_tokens_cached"` // of these, taken from the prefix cache
	GeneratedTokens int64                  `json:"generated_tokens"`
	Steps           int64                  `json:"steps"`
	Waits           time.Duration          `json:"waits_ns"`        // summed over steps: the longest that a thread waited for the others, 0 where short
	LongestWait     time.Duration          `json:"longest_wait_ns"` // the longest of these
	Preemptions     int64                  `json:"preemptions"`
	HandlerPanics   uint64                 `json:"handler_panics"`
	Updates         int64                  `json:"weight_updates"` // times that other weights began to serve, rollbacks among them

	Open           int64 `json:"sequences_open"`
	InLine         int64 `json:"requests_in_line"`  // wait for room among the open ones
	Waiting        int64 `json:"sequences_waiting"` // wait for a place in a step
	Running        int64 `json:"sequences_running"`
	Blocks         int64 `json:"blocks"` // that every cache group can have at the same time
	BlocksFree     int64 `json:"blocks_free"`
	HostBlocks     int64 `json:"host_blocks"`
	HostBlocksFree int64 `json:"host_blocks_free"`

	Mode    string `json:"mode"`
	Holders int    `json:"pause_holders"`
	Version string `json:"weight_version"`
}

// Metrics are the engine's numbers by now.
func (e *Engine) Metrics() Metrics {
	c, s := e.options.Meter.Counts(), e.Status()
	m := Metrics{
		Accepted: c.Accepted, Ended: c.Ended, PromptTokens: c.Prompt, CachedTokens: c.Cached, GeneratedTokens: c.Generated,
		Steps: c.Steps, Waits: c.Waits, LongestWait: c.LongestWait, Preemptions: c.Preemptions, HandlerPanics: e.HandlerPanics(), Updates: e.versions.changed(),
		Open: c.Open, InLine: c.Line, Waiting: c.Waiting, Running: c.Started,
		Blocks: c.Blocks, BlocksFree: c.Free, HostBlocks: c.HostBlocks, HostBlocksFree: c.HostFree,
		Mode: s.Mode, Holders: s.Holders, Version: e.Version(),
	}
	if e.session.Load().ended() { // its actors are gone, and what they had
		m.InLine, m.Waiting, m.Running, m.BlocksFree, m.HostBlocksFree = 0, 0, 0, 0, 0
		m.Blocks, m.HostBlocks = 0, 0
	}
	return m
}
