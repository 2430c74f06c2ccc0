package executor

// Add appends the outcome of a row of s and answers it, empty but for memory that
// an earlier step's row left there.
func (r *Result) Add(s Slot) *RowResult {
	n := len(r.Rows)
	if n < cap(r.Rows) {
		r.Rows = r.Rows[:n+1]
	} else {
		r.Rows = append(r.Rows, RowResult{})
	}
	row := &r.Rows[n]
	*row = RowResult{Slot: s, Tokens: row.Tokens[:0], Drawn: row.Drawn[:0], Prompt: row.Prompt[:0]}
	return row
}
