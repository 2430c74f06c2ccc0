package engine

import (
	"fmt"
	"strconv"
)

// divide decides how many ranks compute the model: as tensor_parallel_size says, or ranks with a
// number.
func (r *Resolved) divide() error {
	c := &r.Config
	if len(c.Ranks) == 1 {
		if n, err := strconv.Atoi(c.Ranks[0]); err == nil {
			if err := r.countRanks(n); err != nil {
				return err
			}
		}
	}
	switch {
	case len(c.Ranks) > 0:
		return fmt.Errorf("%w: ranks is %s (%s): %w, only a number of ranks in this process is", ErrConfig, format(words{&c.Ranks}.get()), r.given["ranks"], ErrNotAvailable)
	case c.TensorParallelSize == 1:
		return nil
	case c.Executor != nil:
		return fmt.Errorf("%w: tensor_parallel_size is %d (%s), and the program brings its own Executor: leave one of them out", ErrConfig, c.TensorParallelSize, r.given["tensor_parallel_size"])
	case r.gpu != nil:
		why := fmt.Sprintf("tensor_parallel_size is %d (%s), %v on a GPU", c.TensorParallelSize, r.given["tensor_parallel_size"], ErrNotAvailable)
		return &notOnGPU{field: "tensor_parallel_size", why: why, do: "leave it out", class: ErrNotAvailable}
	}
	if _, err := c.Checkpoint.Config.Shard(0, c.TensorParallelSize, c.Checkpoint.Tensors()); err != nil {
		return fmt.Errorf("%w: tensor_parallel_size is %d (%s): %w", ErrConfig, c.TensorParallelSize, r.given["tensor_parallel_size"], err)
	}
	return nil
}

// countRanks takes a number that is given for ranks.
func (r *Resolved) countRanks(n int) error {
	c := &r.Config
	where, given := r.given["ranks"], r.given["tensor_parallel_size"]
	if given != "" && n != c.TensorParallelSize {
		return fmt.Errorf("%w: ranks is %d (%s), and tensor_parallel_size is %d (%s): leave one of them out", ErrConfig, n, where, c.TensorParallelSize, given)
	}
	f := fieldNamed("tensor_parallel_size")
	if err := f.set(c, strconv.Itoa(n)); err != nil {
		return fmt.Errorf("%w: ranks is %d (%s): it must be from 1 to 1024", ErrConfig, n, where)
	}
	c.Ranks = nil
	r.given["tensor_parallel_size"], r.from["tensor_parallel_size"] = where, where
	r.from["ranks"] = "all are in this process"
	return nil
}
