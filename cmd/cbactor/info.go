package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
)

func (c *cli) infoCommand() *cobra.Command {
	f := &engineFlags{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "info",
		Short: "Show a model, and the configuration and memory it would run with",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			return c.planned(f, func(m *checkpoint.Checkpoint, r *engine.Resolved) error { return c.info(f, m, r, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write it as JSON")
	f.add(cmd)
	return cmd
}

// modelInfo is a model as it is shown.
type modelInfo struct {
	Name         string  `json:"name"`
	Family       string  `json:"family"`
	Parameters   int     `json:"parameters"`
	DType        string  `json:"dtype"` // of most weights in the file
	Layers       int     `json:"layers"`
	Hidden       int     `json:"hidden"`
	Heads        int     `json:"heads"`
	KVHeads      int     `json:"kv_heads"`
	HeadDim      int     `json:"head_dim"`
	Vocab        int     `json:"vocab"`
	Context      int     `json:"context"`
	EOS          []int32 `json:"eos"`
	Tokenizer    bool    `json:"tokenizer"`
	ChatTemplate bool    `json:"chat_template"`
	Sampling     string  `json:"sampling"` // as the model's authors recommend
}

// engineInfo is the configuration in force as it is shown, under the names of the
// flags.
type engineInfo struct {
	Executor            string `json:"executor"` // with its instruction set
	Compute             string `json:"compute"`
	KVType              string `json:"kv_dtype"`
	Attention           string `json:"attention"`
	Threads             int    `json:"threads"`
	PageSize            int    `json:"page_size"`
	NumBlocks           int    `json:"num_blocks"`
	MaxBatchTokens      int    `json:"max_batch_tokens"`
	MaxRequestsPerBatch int    `json:"max_requests_per_batch"`
	MaxContext          int    `json:"max_context"`
	MaxQueueSize        int    `json:"max_queue_size"`
	Seed                uint64 `json:"seed"` // 0: drawn at each start
	Tuning              string `json:"tuning"`
	WeightBytes         int64  `json:"weight_bytes"`
	CacheBytes          int64  `json:"cache_bytes"` // address space, touched as it is used
}

func (c *cli) info(f *engineFlags, model *checkpoint.Checkpoint, r *engine.Resolved, asJSON bool) error {
	planned, err := r.Info()
	if err != nil {
		return err
	}
	planned.Seed = f.config.Seed // one that is drawn is drawn anew by each start
	m, i := showModel(f.model, model), showEngine(planned)
	i.Tuning = r.Tuning()
	if asJSON {
		return c.printJSON(struct {
			Model  modelInfo  `json:"model"`
			Engine engineInfo `json:"engine"`
		}{m, i})
	}
	return c.print(m.String() + i.String())
}

func showModel(name string, c *checkpoint.Checkpoint) modelInfo {
	parameters := 0
	for _, t := range c.Tensors() {
		parameters += t.Elements()
	}
	m := c.Config
	return modelInfo{
		Name: name, Family: m.Family, Parameters: parameters, DType: m.Stored.String(), Layers: m.Layers, Hidden: m.Hidden,
		Heads: m.Heads, KVHeads: m.KVHeads, HeadDim: m.HeadDim, Vocab: m.Vocab, Context: m.MaxPosition, EOS: m.EOS,
		Tokenizer: c.TokenizerJSON != nil || c.Vocab != nil, ChatTemplate: c.ChatTemplate != "",
		Sampling: recommendation(c.Generation),
	}
}

// recommendation says how the model's authors want tokens drawn.
func recommendation(g checkpoint.Generation) string {
	p, err := engine.Recommended(g)
	if err != nil {
		return "unusable: " + err.Error()
	}
	return described(p)
}

func showEngine(i engine.Info) engineInfo {
	return engineInfo{
		Executor: i.Executor, Compute: i.Compute, KVType: i.KVType, Attention: i.Attention, Threads: i.Threads, PageSize: i.PageSize, NumBlocks: i.Blocks,
		MaxBatchTokens: i.BatchTokens, MaxRequestsPerBatch: i.BatchRows, MaxContext: i.MaxContext, MaxQueueSize: i.QueueSize,
		Seed: i.Seed, WeightBytes: i.WeightBytes, CacheBytes: i.CacheBytes,
	}
}

// String is the model in lines of text.
func (m modelInfo) String() string {
	return columns("Model", [][]string{
		{"name", m.Name},
		{"family", m.Family},
		{"parameters", fmt.Sprintf("%.2f million, stored as %s", float64(m.Parameters)/1e6, m.DType)},
		{"layers", fmt.Sprintf("%d, each %d wide", m.Layers, m.Hidden)},
		{"attention", fmt.Sprintf("%d query heads and %d key and value heads of %d", m.Heads, m.KVHeads, m.HeadDim)},
		{"vocabulary", fmt.Sprintf("%d tokens; text ends at %s", m.Vocab, endTokens(m.EOS))},
		{"context", fmt.Sprintf("%d tokens", m.Context)},
		{"text", textSupport(m)},
		{"sampling", m.Sampling + ", as its authors recommend"},
	})
}

func endTokens(ids []int32) string {
	if len(ids) == 0 {
		return "none"
	}
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = fmt.Sprint(id)
	}
	return "token " + strings.Join(words, " or ")
}

func textSupport(m modelInfo) string {
	switch {
	case !m.Tokenizer:
		return "no tokenizer, token ids only"
	case !m.ChatTemplate:
		return "tokenizer, no chat template"
	}
	return "tokenizer and chat template"
}

// String is the configuration in lines of text.
func (i engineInfo) String() string {
	return columns("Engine", [][]string{
		{"executor", i.Executor},
		{"compute", i.Compute},
		{"kv-dtype", i.KVType},
		{"attention", i.Attention},
		{"threads", fmt.Sprint(i.Threads)},
		{"page-size", fmt.Sprint(i.PageSize)},
		{"num-blocks", fmt.Sprintf("%d, %d tokens", i.NumBlocks, i.NumBlocks*i.PageSize)},
		{"max-batch-tokens", fmt.Sprint(i.MaxBatchTokens)},
		{"max-requests-per-batch", fmt.Sprint(i.MaxRequestsPerBatch)},
		{"max-context", fmt.Sprint(i.MaxContext)},
		{"max-queue-size", fmt.Sprint(i.MaxQueueSize)},
		{"seed", seedText(i.Seed)},
		{"tuning", i.Tuning},
		{"weights", mebibytes(i.WeightBytes)},
		{"cache", mebibytes(i.CacheBytes) + ", touched as it is used"},
	})
}

func seedText(seed uint64) string {
	if seed == 0 {
		return "drawn at each start"
	}
	return fmt.Sprint(seed)
}
