package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/gpuexec"
	"github.com/cbactor/cbactor/internal/replaylog"
	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

var (
	// ErrTooLong means that the cache of a Player cannot hold a sequence.
	ErrTooLong = errors.New("a sequence of the log does not fit")
	// ErrOther means that a log was made with what is not here.
	ErrOther = errors.New("the log cannot be replayed here")
)

// Config says with what to compute.
type Config struct {
	Model   *model.Config
	Header  replaylog.Header
	First   replaylog.Weights
	Source  Source
	Device  *cuda.Device // for a log that was made on a GPU; nil: the CPU
	Threads int          // 0: as many CPUs as the process may use
	Kernels string       // instruction set; "": as cpuexec.Config
	Slots   int          // sequences side by side; 0: 16
}

// defaultSlots is how many sequences go side by side.
const defaultSlots = 16

// Player computes sequences again.
type Player struct {
	ex     executor.Executor
	info   executor.Info
	sets   sets
	slots  []executor.Slot // free
	blocks *blocks

	waiting []*play
	active  []*play
	retire  []place // the next batch retires them
	sum     Summary

	batch  executor.Batch
	result executor.Result
}

// New makes an executor with the first weights of a log. Errors are ErrOther, those of
// cpuexec.New and gpuexec.New, of the Source, and weights.ErrDigest.
func New(cfg Config) (*Player, error) {
	h := &cfg.Header
	if h.Vocab != cfg.Model.Vocab {
		return nil, fmt.Errorf("%w: its vocabulary has %d ids, the model's %d", ErrOther, h.Vocab, cfg.Model.Vocab)
	}
	first, err := cfg.Source.Read(cfg.First)
	if err != nil {
		return nil, err
	}
	set := *first
	set.Epoch = 1
	ex, err := cfg.executor(&set)
	if err != nil {
		return nil, err
	}
	p := &Player{ex: ex, info: ex.Info(), blocks: newBlocks(ex.Info()), sets: sets{loader: ex, source: cfg.Source, epoch: 1,
		named: map[uint32]replaylog.Weights{}, loaded: []loadedSet{{cfg.First.Digest, set}}}}
	p.Weights(cfg.First)
	for i := range p.info.MaxSlots {
		p.slots = append(p.slots, executor.Slot(i))
	}
	return p, nil
}

// executor makes what computes the log again.
func (cfg *Config) executor(first *weights.Set) (executor.Loader, error) {
	h, slots := &cfg.Header, cmp.Or(cfg.Slots, defaultSlots)
	if OnGPU(h) != (cfg.Device != nil) {
		return nil, fmt.Errorf("%w: %.60q has made it", ErrOther, h.Executor)
	}
	if cfg.Device != nil {
		ex, err := gpuexec.New(gpuexec.Config{Device: cfg.Device, Model: cfg.Model, Weights: first, MaxSlots: slots, WeightSets: maxLoaded, PageSize: h.PageSize,
			Quantize: gpuexec.Quantize(h.Quantize)})
		return ex, other(err, gpuexec.ErrConfig)
	}
	c := cpuexec.Config{Model: cfg.Model, Weights: first, Threads: cfg.Threads, MaxSlots: slots, WeightSets: maxLoaded, Kernels: cfg.Kernels}
	if _, err := cpuexec.Plan(c); errors.Is(err, cpuexec.ErrConfig) { // of what the caller says
		return nil, err
	}
	c.PageSize, c.Attention, c.KVType = h.PageSize, cpuexec.Attention(h.Attention), cpuexec.KVType(h.KVType)
	c.Compute, c.Quantize = cpuexec.Compute(h.Compute), cpuexec.Quantize(h.Quantize)
	ex, err := cpuexec.New(c)
	return ex, other(err, cpuexec.ErrConfig)
}

// OnGPU tells that a log was made on a GPU.
func OnGPU(h *replaylog.Header) bool { return strings.HasPrefix(h.Executor, "cuda:") }

// other is ErrOther where what the header says is refused.
func other(err, refused error) error {
	if errors.Is(err, refused) {
		return fmt.Errorf("%w: %w", ErrOther, err)
	}
	return err
}

// Name is the executor's.
func (p *Player) Name() string { return p.info.Name }

// Close frees the executor.
func (p *Player) Close() error { return p.ex.Close() }

// Weights says what a later epoch of the log is.
func (p *Player) Weights(w replaylog.Weights) { p.sets.named[w.Epoch] = w }

// fits refuses a sequence that the executor cannot hold.
func (p *Player) fits(c *play) error {
	if n := c.length(); n >= p.info.MaxContext || !p.blocks.fits(n) {
		return fmt.Errorf("%w: request %.60q has %d tokens, the model takes %d, and the cache has %d blocks of %d", ErrTooLong, c.request.ID, n+1, p.info.MaxContext, p.info.Groups[0].Blocks, p.info.PageSize)
	}
	return nil
}

// step computes a batch. It does nothing when no sequence is left.
func (p *Player) step(ctx context.Context) error {
	b := &p.batch
	p.begin(b)
	if len(p.active)+len(p.retire) == 0 {
		return nil
	}
	if err := p.addRows(ctx, b); err != nil {
		return err
	}
	retired := p.retire
	p.retire = nil
	if err := p.do(b); err != nil {
		return err
	}
	for _, at := range retired {
		p.slots = append(p.slots, at.slot)
		p.blocks.give(at.blocks)
	}
	if len(p.active) == 0 {
		p.blocks.reset()
	}
	p.compare()
	return nil
}

// addRows appends the rows of those whose next positions are of the oldest weights, so
// that sets are changed seldom.
func (p *Player) addRows(ctx context.Context, b *executor.Batch) error {
	if len(p.active) > 0 {
		oldest, _ := p.active[0].run()
		for _, c := range p.active {
			epoch, _ := c.run()
			oldest = min(oldest, epoch)
		}
		if err := p.sets.use(ctx, oldest); err != nil {
			return err
		}
		budget := int32(p.info.MaxTokens)
		for _, c := range p.active {
			c.row.at = -1
			if epoch, _ := c.run(); epoch == oldest && budget > 0 {
				c.addRow(b, budget)
				budget -= b.Rows[c.row.at].Count
			}
		}
	}
	b.Step, b.Epoch = b.Step+1, p.sets.epoch
	return nil
}

// begin starts a batch with those that leave and those for whom there is room.
func (p *Player) begin(b *executor.Batch) {
	step := b.Step
	b.Reset()
	b.Step = step
	for _, at := range p.retire {
		b.Retire = append(b.Retire, at.slot)
	}
	for len(p.waiting) > 0 && len(p.slots) > 0 {
		c := p.waiting[0]
		if c.blocks = p.blocks.take(c.length()); c.blocks == nil {
			return
		}
		c.slot, p.slots = p.slots[len(p.slots)-1], p.slots[:len(p.slots)-1]
		p.waiting = p.waiting[1:]
		p.active = append(p.active, c)
		b.Admit = append(b.Admit, c.admission())
		for g, some := range c.blocks {
			b.Tables = append(b.Tables, executor.Table{Slot: c.slot, Group: int32(g), Blocks: p.blocks.table(some, c.length())})
		}
	}
}

// do runs a batch.
func (p *Player) do(b *executor.Batch) error {
	if err := p.ex.Start(b); err != nil {
		return err
	}
	p.result.Reset()
	if err := p.ex.Finish(&p.result); err != nil {
		return err
	}
	return p.result.Err
}
