package ranks

import (
	"fmt"

	"github.com/cbactor/cbactor/cpuexec"
)

// plan is the configurations of the ranks, but for Ranks, and what all take. Ranks need memory
// as their parts of the model are large, so it is divided by what each needs.
func (c CPU) plan() ([]cpuexec.Config, cpuexec.Memory, error) {
	list, err := c.parts()
	if err != nil {
		return nil, cpuexec.Memory{}, err
	}
	floats, err := list[0].ExchangeFloats()
	if err != nil {
		return nil, cpuexec.Memory{}, err
	}
	exchange := exchangeBytes(c.Ranks, floats)
	each, all, err := planEach(list, func(part *cpuexec.Config) { part.NumBlocks, part.HostBlocks = 1, 0 })
	all.Work += exchange
	if err != nil {
		return nil, all, err
	}
	blocks, bound := 0, all.Bound
	for rank := range list {
		part, share := list[rank], float64(each[rank].BlockBytes)/float64(all.BlockBytes)
		part.NumBlocks, part.HostBlocks = c.Config.NumBlocks, 0
		if c.Config.MaxMemory > 0 {
			left := float64(c.Config.MaxMemory - all.Total() + all.KV)
			part.MaxMemory = max(1, each[rank].Total()-each[rank].KV+int64(share*left))
		}
		if c.Config.MemoryLimit > 0 {
			part.MemoryLimit = max(1, int64(share*float64(c.Config.MemoryLimit)))
		}
		m, err := cpuexec.Plan(part)
		if err != nil {
			return nil, all, fmt.Errorf("rank %d: %w", rank, err)
		}
		if rank == 0 || m.Blocks < blocks {
			blocks, bound = m.Blocks, m.Bound
		}
	}
	_, all, err = planEach(list, func(part *cpuexec.Config) { part.NumBlocks, part.HostBlocks = blocks, c.Config.HostBlocks })
	all.Work, all.Bound = all.Work+exchange, bound
	if err != nil {
		return nil, all, err
	}
	beside := all
	beside.Host = 0
	return list, all, c.Config.HostFits(&beside) // on the sum: no rank knows what others take
}

// parts are the configurations of the ranks without bounds of memory.
func (c CPU) parts() ([]cpuexec.Config, error) {
	stored := c.Config.Stored
	if stored == nil && c.Config.Weights != nil {
		stored = c.Config.Weights.Tensors()
	}
	list := make([]cpuexec.Config, c.Ranks)
	cpu := 0
	for rank := range list {
		part := &list[rank]
		*part = c.Config
		var err error
		if part.Model, err = c.Config.Model.Shard(rank, c.Ranks, stored); err != nil {
			return nil, err
		}
		part.Ranks, part.Stored = planned{}, stored
		part.MaxMemory, part.MemoryLimit, part.InUse = 0, 0, 0
		part.Threads = max(1, (c.Config.Threads+c.Ranks-1-rank)/c.Ranks)
		part.FirstCPU, cpu = cpu, cpu+part.Threads
		if rank > 0 {
			part.Profile = nil // it is the first one's
		}
	}
	return list, nil
}

// planEach changes all configurations, and answers what each takes, and all.
func planEach(list []cpuexec.Config, change func(part *cpuexec.Config)) (each []cpuexec.Memory, all cpuexec.Memory, err error) {
	for rank := range list {
		change(&list[rank])
		m, err := cpuexec.Plan(list[rank])
		if err != nil {
			return nil, all, fmt.Errorf("rank %d: %w", rank, err)
		}
		each = append(each, m)
		if rank == 0 {
			all = m
			continue
		}
		if m.Groups != all.Groups || m.Sectors != all.Sectors {
			return nil, all, ErrCache
		}
		all.BlockBytes += m.BlockBytes
		all.LeastPool += m.LeastPool
		all.Weights += m.Weights
		all.NextSet += m.NextSet
		all.KV += m.KV
		all.Host += m.Host
		all.Slots += m.Slots
		all.Work += m.Work
		all.Sampling += m.Sampling
		all.Adapters += m.Adapters
	}
	return each, all, nil
}
