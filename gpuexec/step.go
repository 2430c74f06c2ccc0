package gpuexec

import (
	"time"
	"unsafe"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/executor"
)

// step is a step from Start to Finish. There are as many as may be handed over, used in turn: what
// one of them has on the device is free again when its Finish has returned.
type step struct {
	number int // of the step's buffers
	batch  *executor.Batch
	began  time.Time
	err    error

	tokens   int
	items    int      // that attend
	segments int      // by which each context is shared
	joints   int32    // bits of those to which adapters add
	loras    int      // items of tokens with adapters
	samples  []sample // drawn or scored on the host
	draws    []sample // drawn on the device
	scores   []sample // scored there
	drawing  int      // draws, with those of nobody
	greedy   bool     // all draws take the largest logit
	tells    bool     // of some draw more than its id is told
	graphed  bool     // it is a graph's; then there may be tokens, items and draws of nobody behind its own

	sent    sent
	weights *parameters
	lap     int // of the stopwatch

	arrived  *cuda.Event // the input
	computed *cuda.Event // all that the device does by itself
	done     *cuda.Event // what it drew is here

	memory []byte  // pinned: the input
	ids    []int32 // pinned: what the device drew
	told   []byte  // pinned: what it tells, kernels.ToldBytes each: of draws, and from MaxSlots on of scores
}

// newSteps makes the steps of e, whose pinned memory is cut out of memory.
func (e *Executor) newSteps(memory []byte) (err error) {
	c := &e.config
	in, out, told := 4*c.inputLen(len(e.layout.groups)), 4*c.MaxSlots, c.toldBytes()
	for i := range e.steps {
		s := &e.steps[i]
		s.number, s.memory = i, memory[:in]
		s.ids = unsafe.Slice((*int32)(unsafe.Pointer(&memory[in])), c.MaxSlots)
		s.told = memory[in+out:][:told]
		s.samples, s.draws, s.scores = make([]sample, 0, c.MaxTokens+c.MaxSlots), make([]sample, 0, c.MaxSlots), make([]sample, 0, c.MaxTokens)
		memory = memory[in+out+told:]
		for _, event := range []**cuda.Event{&s.arrived, &s.computed, &s.done} {
			if *event, err = e.ctx.NewEvent(false); err != nil {
				return err
			}
		}
	}
	e.logits = unsafe.Slice((*float32)(unsafe.Pointer(&memory[0])), hostRows*c.Model.Vocab)
	return nil
}

// stepBytes is the pinned memory of all steps, and of the logits that come to the host.
func (c *Config) stepBytes(groups int) int {
	return MaxOutstanding*(4*c.inputLen(groups)+4*c.MaxSlots+c.toldBytes()) + 4*hostRows*c.Model.Vocab
}

// toldBytes is what the device may tell of the tokens of a step.
func (c *Config) toldBytes() int { return kernels.ToldBytes * (c.MaxSlots + c.MaxTokens) }

// pinnedBytes is all pinned memory beside the host pool.
func (c *Config) pinnedBytes(groups int) int { return c.stepBytes(groups) + sendBuffers*sendBytes }

// alone says that steps behind s must wait until it is finished: it draws on the host.
func (s *step) alone() bool { return len(s.samples) > 0 }
