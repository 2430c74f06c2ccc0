package gpuexec

import (
	"fmt"
	"unsafe"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/kernels"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
)

// input is what the host tells the device of a step: lists of int32, each of which begins at 16
// bytes. It is filled, packed into pinned memory and copied in one piece.
type input struct {
	ids   []int32 // [token]; -1-s: what slot s drew last
	pos   []int32 // [token]
	slots []int32 // [token]
	items []int32 // pairs: first token, how many: positions of a sequence that attend together
	from  []int32 // [draw]: token
	drawn []int32 // [draw]: slot that draws
	draws []int32 // [draw]: how, kernels.DrawBytes each
	read  []int32 // [sample of the host]: token

	scored []int32 // [score]: token
	scores []int32 // [score]: of what, kernels.ScoreBytes each

	adapted []int32 // [token]: bits of the joints to which its adapter adds
	loras   []int32 // tokens with the same adapter, kernels.LoraItem each; in their order
	joints  int32   // all bits; 0: nothing is sent of adapters

	changes [executor.MaxGroups][]int32 // of block tables, pairs: index in all slots' tables, block
	changed [executor.MaxGroups][]int32 // by index: where its pair may be, if it is there
}

// sent is where the lists of an input are on the device.
type sent struct {
	captured
	read, scored, scores cuda.Pointer
	changes              [executor.MaxGroups]cuda.Pointer
}

// captured are those that a graph reads. They come first: of inputs of one size they begin at the same
// places.
type captured struct{ ids, pos, slots, items, from, drawn, draws, adapted, loras cuda.Pointer }

const (
	listAlign = 4 // of a list, in int32
	drawInts  = kernels.DrawBytes / 4
	scoreInts = kernels.ScoreBytes / 4
)

// inputLen is how many int32 an input has at most: of all block tables, each entry once.
func (c *Config) inputLen(groups int) int {
	tables := c.MaxSlots * pages(c.MaxContext, c.PageSize)
	return (8+scoreInts)*c.MaxTokens + c.loraInts(c.MaxTokens) + (3+drawInts)*c.MaxSlots + 2*groups*tables + (12+groups)*listAlign
}

// loraInts is how many int32 the items of adapters in so many tokens are at most.
func (c *Config) loraInts(tokens int) int {
	if c.MaxAdapters == 0 {
		return 0
	}
	return kernels.LoraItem * kernels.LoraItems(tokens, c.MaxAdapters)
}

func newInput(c *Config, groups int) *input {
	in := &input{}
	for _, list := range []struct {
		of *[]int32
		n  int
	}{{&in.ids, c.MaxTokens}, {&in.pos, c.MaxTokens}, {&in.slots, c.MaxTokens}, {&in.items, 2 * c.MaxTokens}, {&in.from, c.MaxSlots}, {&in.drawn, c.MaxSlots}, {&in.draws, drawInts * c.MaxSlots}, {&in.read, c.MaxTokens + c.MaxSlots}, {&in.adapted, c.MaxTokens}, {&in.loras, c.loraInts(c.MaxTokens)}, {&in.scored, c.MaxTokens}, {&in.scores, scoreInts * c.MaxTokens}} {
		*list.of = make([]int32, 0, list.n)
	}
	for g := range groups {
		in.changed[g] = make([]int32, c.MaxSlots*pages(c.MaxContext, c.PageSize))
	}
	return in
}

func (in *input) reset() {
	in.ids, in.pos, in.slots, in.items = in.ids[:0], in.pos[:0], in.slots[:0], in.items[:0]
	in.from, in.drawn, in.draws, in.read = in.from[:0], in.drawn[:0], in.draws[:0], in.read[:0]
	in.adapted, in.loras, in.joints = in.adapted[:0], in.loras[:0], 0
	in.scored, in.scores = in.scored[:0], in.scores[:0]
	for g := range in.changes {
		in.changes[g] = in.changes[g][:0]
	}
}

// change notes what a batch changes in the block tables, which have so many pages each. Pairs are
// written in any order: of an entry that is set twice there is one, with the last block.
func (in *input) change(d *executor.Table, pages int) {
	pairs, changed := in.changes[d.Group], in.changed[d.Group]
	first := int32(int(d.Slot)*pages) + d.Index
	for i, block := range d.Blocks {
		entry := first + int32(i)
		at := int(changed[entry])
		if at < len(pairs) && pairs[at] == entry {
			pairs[at+1] = block
			continue
		}
		changed[entry] = int32(len(pairs))
		pairs = append(pairs, entry, block)
	}
	in.changes[d.Group] = pairs
}

// token adds a token, and answers its number.
func (in *input) token(id int32, pos int, s executor.Slot) int {
	in.ids, in.pos, in.slots = append(in.ids, id), append(in.pos, int32(pos)), append(in.slots, int32(s))
	in.adapted = append(in.adapted, 0)
	return len(in.ids) - 1
}

// pad adds tokens that no sequence has, items without tokens, of attention and of adapters, and draws that
// nobody gets, up to so many.
func (in *input) pad(tokens, items, draws, loras int) {
	for len(in.ids) < tokens {
		in.token(0, -1, 0)
	}
	for len(in.items) < 2*items {
		in.items = append(in.items, 0, 0)
	}
	for len(in.from) < draws {
		in.draw(0, &kernels.Drawn{Params: &sampling.Params{}, Slot: int32(executor.NoSlot)})
	}
	for len(in.loras) < kernels.LoraItem*loras {
		in.loras = append(in.loras, 0)
	}
}

// draw lets a slot draw behind a token.
func (in *input) draw(token int, d *kernels.Drawn) {
	in.from, in.drawn = append(in.from, int32(token)), append(in.drawn, d.Slot)
	n := len(in.draws)
	in.draws = in.draws[:n+drawInts] // each slot draws once
	d.Put(bytesOf(in.draws[n:]))
}

// score lets an id behind a token be scored, and the top most likely ones.
func (in *input) score(token int, id, top int32) {
	in.scored, in.scores = append(in.scored, int32(token)), append(in.scores, id, top)
}

// attend lets the tokens from first on, n of them, attend, in items of as many as go together.
func (in *input) attend(first, n int) {
	for n > 0 {
		some := min(n, kernels.ItemTokens)
		in.items = append(in.items, int32(first), int32(some))
		first, n = first+some, n-some
	}
}

// adapt lets an adapter add to the tokens from first on, n of them, which follow those of its other rows.
func (in *input) adapt(a *adapter, first, n int) {
	in.joints |= a.joints
	for i := range n {
		in.adapted[first+i] = a.joints
	}
	for n > 0 {
		last := len(in.loras) - kernels.LoraItem
		if last < 0 || in.loras[last+2] != a.number || in.loras[last+1] == kernels.LoraTokens {
			last = len(in.loras)
			in.loras = append(in.loras, int32(first), 0, a.number, a.rank, a.joints)
		}
		some := min(n, kernels.LoraTokens-int(in.loras[last+1]))
		in.loras[last+1] += int32(some)
		first, n = first+some, n-some
	}
}

// pack writes all lists to memory of the host and says where on the device they will be, when that
// is copied to base. Without memory it only says so.
func (in *input) pack(memory []byte, base cuda.Pointer) (s sent, used int, err error) {
	to := unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(memory))), len(memory)/4)
	put := func(list []int32) cuda.Pointer {
		at := base + cuda.Pointer(4*used)
		if memory != nil {
			if len(list) > len(to)-used {
				err = fmt.Errorf("%w: it changes more entries of block tables than there are", executor.ErrContract)
				return 0
			}
			copy(to[used:], list)
		}
		used += (len(list) + listAlign - 1) / listAlign * listAlign
		return at
	}
	if in.joints == 0 {
		in.adapted = in.adapted[:0]
	}
	s.captured = captured{ids: put(in.ids), pos: put(in.pos), slots: put(in.slots), items: put(in.items), from: put(in.from), drawn: put(in.drawn), draws: put(in.draws), adapted: put(in.adapted), loras: put(in.loras)}
	s.read, s.scored, s.scores = put(in.read), put(in.scored), put(in.scores)
	for g := range in.changes {
		s.changes[g] = put(in.changes[g])
	}
	return s, 4 * used, err
}
