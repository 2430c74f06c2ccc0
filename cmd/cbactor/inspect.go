package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
)

const inspectHelp = `Show a model, MODEL or --model: what it is, what its files have, its tokenizer, and the configuration and memory
that an engine would run it with, by the flags given. The weights are not read. Of a model that is refused it shows
what its files say and have, and fails with the reason.`

// inspectFlags are the flags of `cbactor inspect`.
type inspectFlags struct {
	engine   engineFlags
	tensors  bool
	metadata bool
	json     bool
}

func (c *cli) inspectCommand() *cobra.Command {
	f := &inspectFlags{}
	cmd := &cobra.Command{
		Use: "inspect [MODEL]", Aliases: []string{"info"},
		Short:   "Show a model, and the configuration and memory it would run with",
		Long:    inspectHelp,
		Example: "  cbactor inspect smollm2\n  cbactor inspect ./my-checkpoint --tensors\n  cbactor inspect model.gguf --metadata --json",
		Args:    atMostOne("one model"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if cmd.Flags().Changed("model") {
					return badUsage("%s and --model both say which model: leave one out", args[0])
				}
				if args[0] == "" { // as for --model
					return badUsage("the name of the model is empty: give one, or leave it out")
				}
				f.engine.model = args[0]
			}
			err := c.planned(&f.engine, func(m *checkpoint.Checkpoint, r *engine.Resolved) error { return c.inspect(f, m, r) })
			if isRefusal(err) {
				return c.inspectRefused(f, err)
			}
			return err
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&f.tensors, "tensors", false, "list the tensors, by the names of the Hugging Face libraries")
	fs.BoolVar(&f.metadata, "metadata", false, "list what the files say of themselves: config.json, or the keys of a GGUF file")
	fs.BoolVar(&f.json, "json", false, "write it as JSON")
	f.engine.add(cmd)
	return cmd
}

// modelInfo is a model as it is shown.
type modelInfo struct {
	Name       string   `json:"name"`
	Path       string   `json:"path"`
	Family     string   `json:"family"`
	Parameters int      `json:"parameters"`
	DType      string   `json:"dtype"` // of most weights in the file
	Layers     int      `json:"layers"`
	Hidden     int      `json:"hidden"`
	Heads      int      `json:"heads"`
	KVHeads    int      `json:"kv_heads"`
	HeadDim    int      `json:"head_dim"`
	Vocab      int      `json:"vocab"`
	Context    int      `json:"context"`
	BOS        int32    `json:"bos"`     // -1: none
	AddBOS     bool     `json:"add_bos"` // the tokenizer puts it before a text
	EOS        []int32  `json:"eos"`
	Options    []option `json:"options"`   // of the forward pass
	Tokenizer  string   `json:"tokenizer"` // kind; "": none
	Chat       chatInfo `json:"chat_template"`
	Sampling   string   `json:"sampling"` // as the model's authors recommend, else greedy
	recommends bool     // whether they recommend anything
}

// engineInfo is the configuration in force as it is shown, under the names of the
// flags.
type engineInfo struct {
	Executor            string `json:"executor"` // with its instruction set
	Compute             string `json:"compute"`
	KVType              string `json:"kv_dtype"`
	Attention           string `json:"attention"` // "" on a GPU
	Threads             int    `json:"threads"`   // 0 on a GPU
	PageSize            int    `json:"page_size"`
	NumBlocks           int    `json:"num_blocks"`
	CacheTokens         int    `json:"cache_tokens"`
	MaxBatchTokens      int    `json:"max_batch_tokens"`
	MaxRequestsPerBatch int    `json:"max_requests_per_batch"`
	MaxContext          int    `json:"max_context"`
	MaxQueueSize        int    `json:"max_queue_size"`
	Seed                uint64 `json:"seed"` // 0: drawn at each start
	Tuning              string `json:"tuning"`
	WeightBytes         int64  `json:"weight_bytes"`
	CacheBytes          int64  `json:"cache_bytes"` // on a CPU address space, touched as it is used
}

// inspection is all that is shown of a model.
type inspection struct {
	Model    modelInfo          `json:"model"`
	Storage  storage            `json:"storage"`
	Engine   engineInfo         `json:"engine"`
	Memory   memoryPlan         `json:"memory"`
	Metadata []checkpoint.Entry `json:"metadata,omitempty"`
	Tensors  []tensorInfo       `json:"tensors,omitempty"`
}

func (c *cli) inspect(f *inspectFlags, model *checkpoint.Checkpoint, r *engine.Resolved) error {
	planned, err := r.Info()
	if err != nil {
		return err
	}
	planned.Seed = f.engine.config.Seed // one that is drawn is drawn anew by each start
	all := inspection{Model: showModel(f.engine.model, model), Storage: storageOf(tensorsOf(model)), Engine: showEngine(planned), Memory: newMemoryPlan(r)}
	all.Engine.Tuning = r.Tuning()
	if f.metadata {
		if all.Metadata, err = checkpoint.Metadata(model.Path); err != nil {
			return err
		}
	}
	if f.tensors {
		all.Tensors = tensorsOf(model)
	}
	if f.json {
		return c.printJSON(all)
	}
	return c.printText(all.String())
}

// String is all of it in lines of text.
func (i *inspection) String() string {
	s := i.Model.String() + i.Storage.String() + i.Engine.String() + i.Memory.String()
	return s + files(i.Metadata, i.Tensors)
}

// files is what a model's files say and have, in lines of text, each where it is asked for.
func files(metadata []checkpoint.Entry, tensors []tensorInfo) (s string) {
	if metadata != nil {
		rows := make([][]string, len(metadata))
		for n, e := range metadata {
			rows[n] = []string{e.Key, e.Value}
		}
		s = columns("Metadata", rows)
	}
	if tensors != nil {
		s += tensorTable(tensors)
	}
	return s
}

func showModel(name string, c *checkpoint.Checkpoint) modelInfo {
	parameters := 0
	for _, t := range c.Tensors() {
		parameters += t.Elements()
	}
	m := c.Config
	return modelInfo{
		Name: name, Path: c.Path, Family: m.Family, Parameters: parameters, DType: m.Stored.String(), Layers: m.Layers, Hidden: m.Hidden,
		Heads: m.Heads, KVHeads: m.KVHeads, HeadDim: m.HeadDim, Vocab: m.Vocab, Context: m.MaxPosition, BOS: m.BOS, AddBOS: addsBOS(c), EOS: m.EOS, Options: optionsOf(m),
		Tokenizer: tokenizerKind(c), Chat: chatOf(c.ChatTemplate), Sampling: recommendation(c.Generation), recommends: recommends(c.Generation),
	}
}

// recommends says whether the model's authors want anything of how tokens are drawn: without
// do_sample, what is of sampling alone is no wish.
func recommends(g checkpoint.Generation) bool {
	return g.DoSample != nil || g.RepetitionPenalty != nil || g.NoRepeatNgram != nil || g.BadWords != nil
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
		Executor: i.Executor, Compute: i.Compute, KVType: i.KVType, Attention: i.Attention, Threads: i.Threads, PageSize: i.PageSize, NumBlocks: i.Blocks, CacheTokens: i.AllTokens(),
		MaxBatchTokens: i.BatchTokens, MaxRequestsPerBatch: i.BatchRows, MaxContext: i.MaxContext, MaxQueueSize: i.QueueSize,
		Seed: i.Seed, WeightBytes: i.WeightBytes, CacheBytes: i.CacheBytes,
	}
}

// String is the model in lines of text.
func (m modelInfo) String() string {
	rows := [][]string{
		{"name", m.Name},
		{"path", m.Path},
		{"family", m.Family},
		{"parameters", fmt.Sprintf("%.2f million, stored as %s", float64(m.Parameters)/1e6, m.DType)},
		{"layers", fmt.Sprintf("%d, each %d wide", m.Layers, m.Hidden)},
		{"attention", fmt.Sprintf("%d query heads and %d key and value heads of %d", m.Heads, m.KVHeads, m.HeadDim)},
	}
	for _, o := range m.Options {
		rows = append(rows, []string{o.Name, o.Value})
	}
	return columns("Model", append(rows, [][]string{
		{"vocabulary", fmt.Sprintf("%d tokens; text begins with %s and ends at %s", m.Vocab, beginToken(m.BOS, m.AddBOS), endTokens(m.EOS))},
		{"context", fmt.Sprintf("%d tokens", m.Context)},
		{"text", textSupport(m)},
		{"sampling", m.Sampling + whose(m.recommends)},
	}...))
}

func beginToken(id int32, added bool) string {
	switch {
	case id < 0:
		return "no token"
	case !added:
		return fmt.Sprintf("no token (%d is not put there)", id)
	}
	return fmt.Sprintf("token %d", id)
}

func whose(recommended bool) string {
	if recommended {
		return ", as its authors recommend"
	}
	return ", as its files recommend nothing"
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
	if m.Tokenizer == "" {
		return "no tokenizer, token ids only"
	}
	return m.Tokenizer + " tokenizer, " + m.Chat.String()
}

// String is the configuration in lines of text.
func (i engineInfo) String() string {
	rows := [][]string{
		{"executor", i.Executor},
		{"compute", i.Compute},
		{"kv-dtype", i.KVType},
	}
	cache := mebibytes(i.CacheBytes)
	if i.Threads > 0 { // else it is a GPU that computes
		rows = append(rows, []string{"attention", i.Attention}, []string{"threads", fmt.Sprint(i.Threads)})
		cache += ", touched as it is used"
	}
	return columns("Engine", append(rows, [][]string{
		{"page-size", fmt.Sprint(i.PageSize)},
		{"num-blocks", fmt.Sprintf("%d, %d tokens", i.NumBlocks, i.CacheTokens)},
		{"max-batch-tokens", fmt.Sprint(i.MaxBatchTokens)},
		{"max-requests-per-batch", fmt.Sprint(i.MaxRequestsPerBatch)},
		{"max-context", fmt.Sprint(i.MaxContext)},
		{"max-queue-size", fmt.Sprint(i.MaxQueueSize)},
		{"seed", seedText(i.Seed)},
		{"tuning", i.Tuning},
		{"weights", mebibytes(i.WeightBytes)},
		{"cache", cache},
	}...))
}

func seedText(seed uint64) string {
	if seed == 0 {
		return "drawn at each start"
	}
	return fmt.Sprint(seed)
}
