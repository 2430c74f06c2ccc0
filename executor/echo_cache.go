package executor

import "fmt"

// kv is the content of one KV slot.
type kv struct {
	id, pos int32 // pos is -1 where nothing was ever written
	epoch   uint32
	adapter string
	step    uint64 // that wrote it
	writer  Slot
}

// echoCache is the paged cache of one of Echo's groups.
type echoCache struct {
	page   int
	window int      // 0: full
	kvs    []kv     // block by block
	host   []kv     // the host pool, likewise
	step   []uint64 // per block: the last step that wrote to it
	writer []Slot   // and who did
}

func newEchoCache(c *EchoConfig, blocks, window int) echoCache {
	return echoCache{
		page: c.PageSize, window: window, kvs: poison(make([]kv, blocks*c.PageSize)), host: poison(make([]kv, c.HostBlocks*c.PageSize)),
		step: make([]uint64, blocks), writer: make([]Slot, blocks),
	}
}

// poison makes kvs as if never written.
func poison(kvs []kv) []kv {
	for i := range kvs {
		kvs[i] = kv{pos: -1}
	}
	return kvs
}

// copy copies a block. A block of the host pool can be read once: who reads it
// again gets nothing, and a row that needs it says so.
func (c *echoCache) copy(p Copy) {
	from, to := c.kvs, c.kvs
	switch p.Kind {
	case CopyOut:
		to = c.host
	case CopyIn:
		from = c.host
	}
	source := from[int(p.From)*c.page:][:c.page]
	copy(to[int(p.To)*c.page:], source)
	if p.Kind == CopyIn {
		poison(source)
	}
}

// write puts k at position p. Two slots never write to one block in one step: a
// block that may be written has one owner.
func (c *echoCache) write(table []int32, p int, k kv) error {
	block := table[p/c.page]
	if c.step[block] == k.step && c.writer[block] != k.writer {
		return fmt.Errorf("%w: slots %d and %d both write to block %d", ErrEcho, c.writer[block], k.writer, block)
	}
	c.step[block], c.writer[block] = k.step, k.writer
	c.kvs[int(block)*c.page+p%c.page] = k
	return nil
}

// read is what slot, whose token at position p is id, finds there in step.
func (c *echoCache) read(table []int32, p int, id int32, adapter string, slot Slot, step uint64) (kv, error) {
	block := table[p/c.page]
	k := c.kvs[int(block)*c.page+p%c.page]
	wrong := ""
	switch {
	case k.pos < 0:
		wrong = "was never written"
	case int(k.pos) != p:
		wrong = fmt.Sprintf("holds position %d", k.pos)
	case k.id != id:
		wrong = fmt.Sprintf("holds token %d of slot %d, not %d", k.id, k.writer, id)
	case k.adapter != adapter:
		wrong = fmt.Sprintf("is of adapter %q, not %q", k.adapter, adapter)
	case k.step == step && k.writer != slot:
		wrong = fmt.Sprintf("is written by slot %d in the same step", k.writer)
	default:
		return k, nil
	}
	return kv{}, fmt.Errorf("%w: slot %d position %d in block %d %s", ErrEcho, slot, p, block, wrong)
}
