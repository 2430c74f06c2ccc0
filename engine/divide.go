package engine

import "fmt"

// divide refuses a number of ranks that the model, or what it is computed on, cannot have.
func (r *Resolved) divide() error {
	c := &r.Config
	n, where := c.TensorParallelSize, r.given["tensor_parallel_size"]
	switch {
	case n == 1:
		return nil
	case c.Executor != nil:
		return fmt.Errorf("%w: tensor_parallel_size is %d (%s), and the program brings its own Executor: leave one of them out", ErrConfig, n, where)
	case r.gpu != nil:
		why := fmt.Sprintf("tensor_parallel_size is %d (%s), %v on a GPU", n, where, ErrNotAvailable)
		return &notOnGPU{field: "tensor_parallel_size", why: why, do: "leave it out", class: ErrNotAvailable}
	case c.Record != nil:
		return fmt.Errorf("%w: Record needs one rank, for others add up otherwise, and tensor_parallel_size is %d (%s): leave one of them out", ErrConfig, n, where)
	}
	for rank := range n {
		if _, err := c.Checkpoint.Config.Shard(rank, n, c.Checkpoint.Tensors()); err != nil {
			return fmt.Errorf("%w: tensor_parallel_size is %d (%s): %w", ErrConfig, n, where, err)
		}
	}
	return nil
}
