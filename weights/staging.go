package weights

import "fmt"

// staging is the memory for bytes that wait until they can be cast or applied.
type staging struct {
	limit, used int
	spare       pool
}

// open gets a slot the memory that its bytes go to.
func (st *staging) open(s *slot) error {
	if s.raw != nil {
		return nil
	}
	if s.direct() {
		s.block.open()
		s.raw = s.block.data[:s.rawBytes]
		return nil
	}
	n := aligned(s.rawBytes)
	if st.used+n > st.limit {
		return fmt.Errorf("%w: %s needs %d bytes until it is %s, %d of %d are free: finish the tensors that were begun", ErrMemory,
			s.entries[0].Name, n, s.to, st.limit-st.used, st.limit)
	}
	s.block.open()
	data := st.spare.take(n)
	if data == nil {
		if st.used+st.spare.bytes+n > st.limit {
			st.spare.clear()
		}
		data = make([]byte, n)
	}
	st.used += n
	s.raw = data
	return nil
}

// close takes back what a finished slot does not need. The bytes of a sparse update
// stay, to be compared with what is sent again.
func (st *staging) close(s *slot) {
	if s.direct() || s.count > 0 {
		return
	}
	st.used -= len(s.raw)
	st.spare.put(s.raw)
	s.raw = nil
}

// need is the memory that slots take while they wait: what the largest one takes,
// at least, and all together at most.
func need(slots []*slot) (least, most int) {
	sparse, largest := 0, 0
	for _, s := range slots {
		if s.direct() {
			continue
		}
		n := aligned(s.rawBytes)
		most += n
		if s.count > 0 {
			sparse += n
		} else {
			largest = max(largest, n)
		}
	}
	return sparse + largest, most
}
