package executor

import "fmt"

// kv is the content of one KV slot.
type kv struct {
	id, pos int32 // pos is -1 where nothing was ever written
	epoch   uint32
	step    uint64 // that wrote it
	writer  Slot
}

// echoCache is Echo's paged cache.
type echoCache struct {
	page   int
	kvs    []kv     // block by block
	step   []uint64 // per block: the last step that wrote to it
	writer []Slot   // and who did
}

func newEchoCache(blocks, page int) echoCache {
	c := echoCache{page: page, kvs: make([]kv, blocks*page), step: make([]uint64, blocks), writer: make([]Slot, blocks)}
	for i := range c.kvs {
		c.kvs[i].pos = -1
	}
	return c
}

func (c *echoCache) copy(from, to int32) {
	page := int32(c.page)
	copy(c.kvs[to*page:(to+1)*page], c.kvs[from*page:(from+1)*page])
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
func (c *echoCache) read(table []int32, p int, id int32, slot Slot, step uint64) (kv, error) {
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
	case k.step == step && k.writer != slot:
		wrong = fmt.Sprintf("is written by slot %d in the same step", k.writer)
	default:
		return k, nil
	}
	return kv{}, fmt.Errorf("%w: slot %d position %d in block %d %s", ErrEcho, slot, p, block, wrong)
}
