package grammar

// magnitude reads a number without sign and exponent from lo to hi, nil for no end,
// digit by digit beside those of both.
func (b *builder) magnitude(lo, hi *limit, integer bool, next int32) int32 {
	m := &magnitude{builder: b, lo: lo, hi: hi, integer: integer, next: next, at: make(map[digit]int32)}
	longest := len(lo.whole) + 1
	if hi != nil {
		longest = len(hi.whole)
		m.frac = len(hi.frac)
	}
	m.frac = max(m.frac, len(lo.frac))
	all := dead
	for n := len(lo.whole); n <= longest; n++ {
		all = b.either(all, m.read(digit{length: n, onLo: n == len(lo.whole), onHi: hi != nil && n == len(hi.whole)}))
	}
	return all
}

// magnitude emits the numbers between two limits.
type magnitude struct {
	*builder
	lo, hi  *limit
	integer bool
	next    int32
	frac    int // digits behind the point that are compared
	at      map[digit]int32
}

// digit is a place in a number, and what is known of the digits before.
type digit struct {
	length int // of the whole part
	place  int // of the digit; from length on behind the point, at most frac there
	point  bool
	some   bool // a digit is behind the point
	onLo   bool // all digits are those of lo
	onHi   bool // all digits are those of hi
}

// read reads the digits from d on.
func (m *magnitude) read(d digit) int32 {
	if pc, ok := m.at[d]; ok {
		return pc
	}
	hole := m.hole()
	m.at[d] = hole
	all := dead
	if d.place < d.length || d.point {
		all = m.digits(d)
	}
	if d.place >= d.length && (!d.point || d.some) && m.between(d) {
		all = m.either(all, m.next)
	}
	if d.place == d.length && !d.point {
		if m.hi == nil && d.length > len(m.lo.whole) { // as long as one likes
			all = m.either(all, m.bytes('0', '9', hole))
		}
		if !m.integer {
			behind := d
			behind.point = true
			all = m.either(all, m.text(".", m.read(behind)))
		}
	}
	m.become(hole, all)
	return hole
}

// digits reads one digit.
func (m *magnitude) digits(d digit) int32 {
	after := d
	if d.point {
		after.some = true
	}
	if d.place < d.length+m.frac {
		after.place++
	}
	all, first := dead, byte('0')
	if d.place == 0 && d.length > 1 {
		first = '1'
	}
	low, high := m.lo.digit(d), byte('9')
	if m.hi != nil {
		high = m.hi.digit(d)
	}
	for c := first; c <= '9'; c++ {
		if d.onLo && c < low || d.onHi && c > high {
			continue
		}
		after.onLo, after.onHi = d.onLo && c == low, d.onHi && c == high
		all = m.either(all, m.bytes(c, c, m.read(after)))
	}
	return all
}

// digit is the digit of a limit at a place.
func (l *limit) digit(d digit) byte {
	switch i := d.place - d.length; {
	case i < 0 && d.place < len(l.whole):
		return l.whole[d.place]
	case i >= 0 && i < len(l.frac):
		return l.frac[i]
	}
	return '0'
}

// between says whether the number that ends before d is within the limits.
func (m *magnitude) between(d digit) bool {
	read := d.place - d.length
	if d.onLo && (read < len(m.lo.frac) || m.lo.exclusive) {
		return false
	}
	return !d.onHi || read < len(m.hi.frac) || !m.hi.exclusive
}
