package executor

import "github.com/cbactor/cbactor/sampling"

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

// Fail makes r the outcome of a row that failed: it has nothing but the error.
func (r *RowResult) Fail(err error) {
	r.Tokens, r.Drawn, r.Prompt, r.Err = r.Tokens[:0], r.Drawn[:0], r.Prompt[:0], err
}

// Tells says whether a token has a record in RowResult.Drawn.
func Tells(t *sampling.Tell) bool { return t.Logprobs || t.Kept }

// Records is n records in list's memory and that of its records, all empty. Their
// places in memory stay the same until list is used again.
func Records(list []sampling.Drawn, n int) []sampling.Drawn {
	list = list[:cap(list)]
	if n > len(list) {
		list = append(list, make([]sampling.Drawn, n-len(list))...)
	}
	list = list[:n]
	for i := range list {
		list[i] = sampling.Drawn{Top: list[i].Top[:0], Kept: list[i].Kept[:0]}
	}
	return list
}

// PromptScores is how many ids follow r's positions as far as they are prompt, of
// which there are prompt: the length of RowResult.Prompt where r asks.
func (r *Row) PromptScores(prompt int32) int {
	return int(max(0, min(r.Start+r.Count, prompt-1)-r.Start))
}
