package weights

// apply makes the tensor of a sparse update: the base's with the new numbers.
func (s *slot) apply(base *Set) {
	old, _ := base.Tensor(s.parts[0].Name)
	copy(s.block.data, old.Data)
	n := s.to.RowBytes(1)
	indices, values := s.raw, s.raw[s.count*indexBytes:s.rawBytes]
	for at := 0; at < len(values); at += n {
		to := int(index(indices)) * n
		copy(s.block.data[to:to+n], values[at:at+n])
		indices = indices[indexBytes:]
	}
}
