package executor

import "fmt"

// rows checks those that compute first: a fork's row of count 0 looks at its
// parent's, which may stand behind it.
func (c *Checker) rows(b *Batch) error {
	tokens := 0
	for i := range b.Rows {
		r := &b.Rows[i]
		t, err := c.rowSlot(r, b)
		if err == nil && r.Count != 0 {
			err = c.row(r, t)
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		tokens += int(r.Count)
	}
	if tokens > c.info.MaxTokens {
		return breach("%d tokens, must be at most %d", tokens, c.info.MaxTokens)
	}
	for i := range b.Rows {
		if r := &b.Rows[i]; r.Count == 0 {
			if err := c.forkRow(r, b.Step); err != nil {
				return fmt.Errorf("row %d: %w", i, err)
			}
		}
	}
	return nil
}

// rowSlot checks what holds for every row and marks the slot as having one.
func (c *Checker) rowSlot(r *Row, b *Batch) (*slotCheck, error) {
	t, err := c.opened(r.Slot)
	if err != nil {
		return nil, err
	}
	switch {
	case t.rowStep == b.Step:
		return nil, breach("slot %d has two rows", r.Slot)
	case r.Mask < -1 || int(r.Mask) >= len(b.Masks):
		return nil, breach("slot %d has mask %d of %d, -1 is none", r.Slot, r.Mask, len(b.Masks))
	case r.Mask >= 0:
		return nil, fmt.Errorf("%w: slot %d asks for a mask", ErrUnsupported, r.Slot)
	}
	t.rowStep = b.Step
	return t, nil
}

// row checks a row that computes tokens. Rows of a slot follow one another
// without gap or overlap; the first may start behind a shared prefix. Only the
// row that reaches the last id samples, which makes one id more.
func (c *Checker) row(r *Row, t *slotCheck) error {
	if r.Count < 0 || int(r.Count) > c.info.MaxTokens {
		return breach("slot %d has count %d, must be from 0 to %d", r.Slot, r.Count, c.info.MaxTokens)
	}
	if r.Start < 0 || r.Start > t.ids-r.Count {
		return breach("slot %d has %d tokens from position %d, must be within its %d ids", r.Slot, r.Count, r.Start, t.ids)
	}
	if t.next >= 0 && r.Start != t.next {
		return breach("slot %d starts at position %d, must at %d", r.Slot, r.Start, t.next)
	}
	end := r.Start + r.Count
	if r.Sample && end != t.ids {
		return breach("slot %d samples after position %d, must after its last, %d", r.Slot, end-1, t.ids-1)
	}
	if err := c.reach(r, t); err != nil {
		return err
	}
	t.next = end
	if !r.Sample {
		return nil
	}
	return c.sampled(r.Slot, t)
}

// reach checks that the slot's block tables hold what the row reads and writes.
func (c *Checker) reach(r *Row, t *slotCheck) error {
	high := int32(c.pages(int(r.Start + r.Count)))
	for g, group := range c.info.Groups {
		low := int32(0)
		if group.Window > 0 {
			low = int32(max(0, int(r.Start)-group.Window+1) / c.info.PageSize)
		}
		if s := t.tables[g]; low < s.low || high > s.high {
			return breach("slot %d group %d: row needs table indexes %d to %d, set are %d to %d", r.Slot, g, low, high-1, s.low, s.high-1)
		}
	}
	return nil
}

// forkRow checks a row that samples from the logits of its parent's row.
func (c *Checker) forkRow(r *Row, step uint64) error {
	t, err := c.opened(r.Slot)
	if err != nil {
		return err
	}
	if r.PromptLogprobs {
		return breach("slot %d asks a row of count 0 for prompt log-probabilities, must ask its parent's", r.Slot)
	}
	if t.parent == NoSlot || t.admitted != step || !r.Sample || r.Start != t.ids {
		return breach("slot %d: a row of count 0 samples after the last id of a fork admitted by this step", r.Slot)
	}
	parent, err := c.opened(t.parent)
	if err != nil {
		return err
	}
	if parent.adapter != t.adapter {
		return breach("slot %d has adapter %q, its parent, slot %d, %q: their logits differ", r.Slot, t.adapter, t.parent, parent.adapter)
	}
	if parent.rowStep != step || parent.next != r.Start || parent.parent != NoSlot {
		return breach("slot %d: its parent, slot %d, computes no row that ends at position %d", r.Slot, t.parent, r.Start-1)
	}
	t.next = r.Start
	return c.sampled(r.Slot, t)
}

// sampled counts the id that a row will have sampled.
func (c *Checker) sampled(s Slot, t *slotCheck) error {
	if int(t.ids) >= c.info.MaxContext {
		return breach("slot %d samples token %d of a context of %d", s, t.ids+1, c.info.MaxContext)
	}
	t.ids++
	return nil
}
