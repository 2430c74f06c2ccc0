package weights

// Same tells whether all tensors of s are the very memory that another set has under
// the same names, so that what was derived from that one serves this one, too. It is
// so of a set that a rollback made current again. Sets without tensors have nothing in
// common.
func (s *Set) Same(other *Set) bool {
	for name, t := range s.tensors {
		o := other.tensors[name]
		if len(t.Data) == 0 || len(o.Data) == 0 || &t.Data[0] != &o.Data[0] || t.DType != o.DType {
			return false
		}
	}
	return len(s.tensors) > 0 && len(s.tensors) == len(other.tensors)
}
