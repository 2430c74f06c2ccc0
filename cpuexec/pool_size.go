package cpuexec

import (
	"fmt"

	"github.com/cbactor/cbactor/cpuexec/kernels"
	"github.com/cbactor/cbactor/executor"
)

// sizePool decides how big the pool is, beside what else m says is taken.
func (m *Memory) sizePool(c *Config, l *layout) error {
	var bounds []executor.PoolBound
	if c.MemoryLimit > 0 {
		bounds = append(bounds, executor.PoolBound{By: executor.ByQuarter, Bytes: c.MemoryLimit / 4})
	}
	if c.MaxMemory > 0 {
		bounds = append(bounds, executor.PoolBound{By: executor.ByMaxMemory, Bytes: c.MaxMemory - m.Total() - poolBytes(0)})
	}
	var bytes int64
	m.Pool, bytes = executor.SizePool(executor.PoolConfig{
		Division: l.division, PageSize: c.PageSize, PageBytes: int64(l.page),
		MaxSlots: c.MaxSlots, MaxTokens: c.MaxTokens, MaxContext: c.MaxContext, MaxOutstanding: MaxOutstanding,
		NumBlocks: c.NumBlocks, HostBlocks: c.HostBlocks, Bounds: bounds,
	})
	if m.Blocks < 1 {
		return c.noBlock(m)
	}
	m.KV = poolBytes(bytes)
	return nil
}

// noBlock says why the pool of m has none.
func (c *Config) noBlock(m *Memory) error {
	if m.Bound == executor.ByQuarter {
		return fmt.Errorf("%w: %s, a quarter of the limit is %d; use a smaller page size", ErrMemory, m.Smallest(), c.MemoryLimit/4)
	}
	return fmt.Errorf("%w: weights and work take %d bytes and %s, of %d that may be used; allow more, or use fewer tokens a step",
		ErrMemory, m.Total(), m.Smallest(), c.MaxMemory)
}

// readBehind is how far behind a page attention may read, since it reads whole tiles: of
// rows of K in float32, of 4 rows at a time in int8, of scales.
const readBehind = 4 * kernels.Tile

// poolBytes is the size of a pool of so many bytes, which something follows that may be read.
func poolBytes(n int64) int64 { return lineBytes(n + readBehind) }

// hostBytes is the size of the host pool, which shares the limit with all that m has
// and with what others use.
func (c *Config) hostBytes(m *Memory) (int64, error) {
	if err := c.HostFits(m); err != nil {
		return 0, err
	}
	return lineBytes(int64(c.HostBlocks) * m.BlockBytes), nil
}

// HostFits makes sure that MemoryLimit has room for the host pool beside InUse and all that m
// has, which is without it.
func (c *Config) HostFits(m *Memory) error {
	taken := c.InUse + m.Total()
	if most := max(0, c.MemoryLimit-taken) / m.BlockBytes; c.MemoryLimit > 0 && int64(c.HostBlocks) > most {
		return fmt.Errorf("%w: a host pool of %d blocks of %d bytes, where %d of %d bytes are taken; use at most %d blocks",
			ErrMemory, c.HostBlocks, m.BlockBytes, taken, c.MemoryLimit, most)
	}
	return nil
}
