package cpuexec

// operationOf are the operations of a layer's matrices.
var operationOf = [joints]Operation{jointQKV: OpQKV, jointOut: OpOut, jointGateUp: OpGateUp, jointDown: OpDown}

// countWork adds what the step that was computed had to do, as Work counts it.
func (s *step) countWork(k *Steps) {
	tokens := int64(len(s.tokens))
	for l := range s.weights.layers {
		for i := range ownJoints(s.config.Model, l) {
			matrices := s.weights.layers[l].matrices[i]
			for n := range matrices {
				k.product(operationOf[i], &matrices[n], tokens, matrices[n].passes(len(s.tokens)))
			}
		}
	}
	for i, op := range [2]Operation{OpGateUp, OpDown} {
		w := &s.clock.experts[i]
		k.Work[op].Ops += w.Ops
		k.Work[op].Bytes += w.Bytes
		k.Work[op].Integer = k.Work[op].Integer || w.Integer
		k.Footprint += w.Bytes
	}
	head, samples, most := &s.weights.head, len(s.samples), s.config.headRows()
	k.product(OpHead, head, int64(samples), int64(samples/most)*head.passes(most)+head.passes(samples%most))
	s.countAttention(k)
}

// product adds one of so many rows and a matrix that is read so many times.
func (k *Steps) product(op Operation, m *matrix, rows, times int64) {
	bytes := int64(len(m.panels))
	k.Work[op].add(m.ops(rows), times*bytes, m.integer())
	k.Footprint += min(times, 1) * bytes
}

// ops are the additions and multiplications of so many rows.
func (m *matrix) ops(rows int64) int64 { return 2 * rows * int64(m.k) * int64(m.outputs) }

// countAttention adds what attention had to do.
func (s *step) countAttention(k *Steps) {
	for g := range s.cache.groups {
		group := &s.cache.groups[g]
		seen, read, distinct, first := 0, 0, 0, 0
		for i := range s.tokens {
			seen += min(s.tokens[i].pos+1, group.window)
		}
		for i := range s.spans {
			u := &s.spans[i]
			from, end := u.first(group.window)/s.cache.pageSize, pages(u.end(), s.cache.pageSize)
			read += end - from
			if i == 0 || s.spans[i-1].slot != u.slot { // a sequence's first
				first = from
			}
			if i+1 == len(s.spans) || s.spans[i+1].slot != u.slot { // its last
				distinct += end - first
			}
		}
		k.Work[OpAttention].add(int64(4*seen*group.layers*s.attnDim()), int64(read*group.block), s.cache.kvType == KVInt8)
		k.Footprint += int64(distinct * group.block)
	}
}

func (w *Work) add(ops, bytes int64, integer bool) {
	w.Ops += ops
	w.Bytes += bytes
	w.Integer = integer
}
