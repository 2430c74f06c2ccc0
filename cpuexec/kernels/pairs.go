package kernels

// pairs is 32 k of a panel's integers in plain Go's form, an int64 for columns c and
// c+16: the second's number times 2^32 plus the first's. One multiplication serves both.
type pairs [Panel / 2][Block]int64

func pair(a, b int8) int64 { return int64(a) + int64(b)<<32 }

// unpackQ8 takes the bytes of a block of Format Q8.
func (p *pairs) unpackQ8(w []byte) {
	half := w[512:]
	for i, q := range w[:512] {
		p[i/4%16][i/64*4+i%4] = pair(int8(q^0x80), int8(half[i]^0x80))
	}
}

// unpackQ4 takes the bytes of a block of Format Q4.
func (p *pairs) unpackQ4(w []byte) {
	half := w[256:]
	for i, q := range w[:256] {
		c, j, h := i/4%16, i/64*4+i%4, half[i]
		p[c][j] = pair(int8(q&15), int8(h&15))
		p[c][j+16] = pair(int8(q>>4), int8(h>>4))
	}
}

// unpackQ5 takes the bytes of a block of Format Q5K.
func (p *pairs) unpackQ5(w []byte) {
	p.unpackQ4(w)
	bits := w[nibbles:]
	for c := range p {
		for j := range p[c] {
			a, b := bits[4*c+j%4]>>(j/4)&1, bits[64+4*c+j%4]>>(j/4)&1
			p[c][j] += pair(int8(a<<4), int8(b<<4))
		}
	}
}

// unpackQ6 takes the bytes of a block of Format Q6K, less 32.
func (p *pairs) unpackQ6(w []byte) {
	six := func(c, j int) int8 {
		low := w[c/16*256+j/8*64+c%16*4+j%4] >> (j / 4 % 2 * 4) & 15
		high := w[nibbles+c/16*128+j/16*64+c%16*4+j%4] >> (j / 4 % 4 * 2) & 3
		return int8(low|high<<4) - 32
	}
	for c := range p {
		for j := range p[c] {
			p[c][j] = pair(six(c, j), six(c+16, j))
		}
	}
}

// unpackC8 takes 32 k of a panel of Format C8.
func (p *pairs) unpackC8(w []byte) {
	for j := range Block {
		line := w[j/4*4*Panel+j%4:]
		for c := range p {
			p[c][j] = pair(int8(line[4*c]^0x80), int8(line[4*(c+16)]^0x80))
		}
	}
}

// pairSums is sums of products of pairs, in the same form.
type pairSums [Panel / 2]int64

// add multiplies a row's numbers, from lo to hi, with pairs.
func (s *pairSums) add(p *pairs, x *[Block]int64, lo, hi int) {
	for c := range p {
		line, sum := p[c][lo:hi], s[c]
		for j, v := range x[lo:hi] {
			sum += line[j] * v
		}
		s[c] = sum
	}
}

// of is the sum of a column.
func (s *pairSums) of(c int) int32 {
	if c < Panel/2 {
		return int32(s[c])
	}
	// the first column's sum, where it is negative, has borrowed one
	sum := s[c-Panel/2]
	return int32((sum - int64(int32(sum))) >> 32)
}
