package cuda_test

import (
	"testing"

	"github.com/cbactor/cbactor/cuda/emu"
)

// A pinned buffer that is written to before a copy has read it is told. What an earlier copy
// writes to it is in order.
func TestEarlyReuseIsTold(t *testing.T) {
	emu.Only(t, "others do not look")
	for name, c := range map[string]struct {
		between func(r *lostRig, host []byte) error
		code    string
	}{
		"by the process": {func(_ *lostRig, host []byte) error { host[0]++; return nil }, "CUDA_ERROR_ILLEGAL_ADDRESS"},
		"not at all":     {func(*lostRig, []byte) error { return nil }, ""},
		"when it is over": {func(r *lostRig, host []byte) error {
			err := r.stream.Synchronize()
			host[0]++
			return err
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := &lostRig{T: t}
			r.open(emu.Options{Kernels: kernels})
			device, err := r.ctx.Alloc(100)
			r.ok(err)
			host, err := r.ctx.AllocHost(100)
			r.ok(err)
			r.ok(r.stream.CopyOut(host, device)) // so that the next copy reads what is not there yet
			r.ok(r.stream.CopyIn(device, host))
			r.ok(r.stream.Synchronize())
			r.ok(r.stream.CopyIn(device, host))
			r.ok(c.between(r, host))
			if err = r.stream.Synchronize(); c.code == "" {
				r.ok(err)
			} else {
				code(t, "written to too early", err, c.code)
			}
		})
	}
}

// Hastily, who forgets to wait for a reader always writes under it. With the event between
// them, all is in order.
func TestMissingWaitForAReaderShows(t *testing.T) {
	emu.Only(t, late)
	for _, c := range []struct {
		schedule emu.Schedule
		waits    bool
		want     float32
	}{{emu.Hasty, false, 9}, {emu.Hasty, true, 7}, {emu.Lazy, false, 7}} {
		r := newRig(t, emu.Options{Schedule: c.schedule})
		other, read, written := r.second()
		x, y, next := r.vector(7), r.vector(0), r.vector(9)
		r.ok(r.stream.CopyIn(x.device, x.host))
		r.ok(r.stream.CopyIn(y.device, y.host))
		r.ok(r.axpy(r.stream, r.function("axpy"), y, x, 1))
		r.ok(r.stream.Record(read))
		if c.waits {
			r.ok(other.Wait(read))
		}
		r.ok(other.CopyIn(x.device, next.host))
		r.ok(other.Record(written))
		if done, err := written.Done(); done != (c.schedule == emu.Hasty && !c.waits) || err != nil {
			t.Errorf("%+v: the second copy is done: %t (%v)", c, done, err)
		}
		r.ok(r.stream.CopyOut(y.host, y.device))
		r.ok(r.stream.Synchronize())
		if y.at(0) != c.want {
			t.Errorf("%+v: the kernel reads %v", c, y.at(0))
		}
	}
}
