package checkpoint

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// cheaply runs what must fail, and checks that it does so in less than 100 ms and
// the given memory, with a message of one line. A busy machine gets three tries.
func cheaply(t *testing.T, name string, limit uint64, run func() error) error {
	t.Helper()
	var before, after runtime.MemStats
	var err error
	var took time.Duration
	for range 3 {
		runtime.ReadMemStats(&before)
		start := time.Now()
		err = run()
		took = time.Since(start)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > limit {
			t.Errorf("%s: took %d KiB", name, n>>10)
			break
		}
		if took < 100*time.Millisecond {
			break
		}
	}
	if took >= 100*time.Millisecond {
		t.Errorf("%s: took %v", name, took)
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: the error has more than one line: %v", name, err)
	}
	return err
}

// sparse is a file that is one byte, over and over, after its head.
type sparse struct {
	head []byte
	fill byte
	size int64
}

func (s sparse) ReadAt(p []byte, off int64) (int, error) {
	for i := range p {
		p[i] = s.fill
	}
	if off < int64(len(s.head)) {
		copy(p, s.head[off:])
	}
	return len(p), nil
}
