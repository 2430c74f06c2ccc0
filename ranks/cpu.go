package ranks

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/cbactor/cbactor/cpuexec"
)

// CPU is ranks in this process that compute on CPUs.
type CPU struct {
	Config  cpuexec.Config // of all together: Threads are divided, and so is memory. A rank has one thread at least
	Ranks   int
	Timeout time.Duration // that a rank waits for another one
}

// ErrCache means that ranks would lay their caches out differently.
var ErrCache = errors.New("ranks divide the cache differently: take another page size")

// Name is what the executor has as its name. Errors are those of cpuexec.Config.Name.
func (c CPU) Name() (string, error) {
	name, err := c.Config.Name()
	return named(name, c.Ranks), err
}

func named(name string, ranks int) string { return fmt.Sprintf("%s, %d ranks", name, ranks) }

// Plan computes what New takes for all ranks together, with what they show each other in Work. The
// pool has the blocks that each rank has, whose bytes are those of all. Errors are those of
// cpuexec.Plan, beside what was planned so far, and of model.Config.Shard, and ErrCache.
func (c CPU) Plan() (cpuexec.Memory, error) {
	_, all, err := c.plan()
	return all, err
}

// New starts the ranks.
func (c CPU) New() (*Executor, error) {
	list, _, err := c.plan()
	if err != nil {
		return nil, err
	}
	floats, err := list[0].ExchangeFloats()
	if err != nil {
		return nil, err
	}
	x := NewExchange(c.Ranks, floats, c.Timeout)
	var parts []Part
	threads := 0
	for rank := range list {
		list[rank].Ranks = x.Member(rank)
		ex, err := cpuexec.New(list[rank])
		if err != nil {
			err = fmt.Errorf("rank %d: %w", rank, err)
			for _, p := range parts {
				err = errors.Join(err, p.Close())
			}
			return nil, err
		}
		threads += list[rank].Threads
		parts = append(parts, ex)
	}
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) < threads+2 {
		runtime.GOMAXPROCS(threads + 2) // as cpuexec.New does for one
	}
	return New(parts, c.Timeout, func(err error) { x.Break(0, err) }), nil
}

var _ Part = (*cpuexec.Executor)(nil)

// planned stands for ranks that are to come.
type planned struct{}

func (planned) Room() []float32               { return nil }
func (planned) Show(int) ([][]float32, error) { return nil, errors.ErrUnsupported }
