package blockmgr

// lacks tells that the budget leaves no row that begins at position start.
func (b *Budget) lacks(start int32) bool {
	return b.Tokens <= 0 || b.Rows <= 0 || b.Reads != 0 && start > max(0, b.Reads) && b.Taken > 0
}

// use takes a row of count tokens from position start on out of the budget.
func (b *Budget) use(start, count int32) {
	b.Tokens -= count
	b.Rows--
	b.Taken++
	if b.Reads > 0 {
		b.Reads = readsLeft(b.Reads - start)
	}
}

// Read tells that rows decided already read n positions, of most in a step; 0: any number.
func (b *Budget) Read(n, most int) {
	if most > 0 {
		b.Reads = readsLeft(int32(most - n))
	}
}

// readsLeft is how many positions may still be read, as Budget says none.
func readsLeft(n int32) int32 {
	if n <= 0 {
		return -1
	}
	return n
}
