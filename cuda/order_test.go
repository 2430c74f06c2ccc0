package cuda_test

import (
	"testing"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/cuda/emu"
)

// late is why a device that is in time shows no mistake.
const late = "others may be in time"

// Lazily, who forgets to wait always sees the old content: of what a stream copies ...
func TestMissingWaitShows(t *testing.T) {
	emu.Only(t, late)
	r := newRig(t, emu.Options{})
	v := r.vector(7)
	r.ok(r.stream.CopyIn(v.device, v.host))
	r.ok(r.stream.Synchronize())
	v.set(0)
	r.ok(r.stream.CopyOut(v.host, v.device))
	if v.at(0) != 0 {
		t.Error("a copy was done before anybody waited")
	}
	r.ok(r.stream.Synchronize())
	if v.at(0) != 7 {
		t.Error("waiting has done nothing")
	}
}

// ... and of what another one writes. With the event between them, all is in order.
func TestEventsOrderStreams(t *testing.T) {
	r := newRig(t, emu.Options{})
	other, written, _ := r.second()
	v := r.vector(1)
	r.ok(r.stream.CopyIn(v.device, v.host))
	r.ok(r.stream.Record(written))
	out := r.vector(0)
	r.ok(other.CopyOut(out.host, v.device))
	r.ok(other.Synchronize())
	if out.at(0) == 1 && !emu.Hardware() {
		t.Error("the other stream has seen the copy without waiting for it")
	}
	r.ok(other.Wait(written))
	r.ok(other.CopyOut(out.host, v.device))
	r.ok(other.Synchronize())
	if out.at(0) != 1 {
		t.Errorf("behind the event the other stream reads %v", out.at(0))
	}
}

func TestEvents(t *testing.T) {
	r := newRig(t, emu.Options{})
	v := r.vector(1)
	var events [2]*cuda.Event
	for i := range events {
		e, err := r.ctx.NewEvent(true)
		r.ok(err)
		events[i] = e
	}
	if done, err := events[0].Done(); !done || err != nil {
		t.Errorf("an event that was never recorded: %v, %v", done, err)
	}
	r.ok(r.stream.Record(events[0]))
	r.ok(r.stream.CopyIn(v.device, v.host))
	r.ok(r.stream.Record(events[1]))
	if !emu.Hardware() { // which may have done it
		if done, err := events[1].Done(); done || err != nil {
			t.Errorf("done before anybody waited: %v, %v", done, err)
		}
		_, err := cuda.Elapsed(events[0], events[1])
		code(t, "the time of what is not done", err, "CUDA_ERROR_NOT_READY")
	}
	r.ok(events[1].Synchronize())
	if done, err := events[1].Done(); !done || err != nil {
		t.Errorf("not done after waiting: %v, %v", done, err)
	}
	if d, err := cuda.Elapsed(events[0], events[1]); d < 0 || err != nil {
		t.Errorf("%v, %v", d, err)
	}
	for _, e := range events {
		r.ok(e.Close())
	}
	if !emu.Hardware() { // whose driver may crash
		code(t, "an event that was closed", r.stream.Record(events[0]), "CUDA_ERROR_INVALID_HANDLE")
	}
}
