package cuda

import (
	"errors"
	"math"
	"time"
)

// Flags of an event (CUevent_flags of the driver API's reference).
const (
	eventBlockingSync  = 1 // who waits sleeps
	eventDisableTiming = 2
)

// Event is a place in a stream, once it is recorded.
type Event struct {
	lib    *Library
	handle uintptr
}

// NewEvent makes an event. One with timing costs more, and has a time to be read with Elapsed.
func (c *Context) NewEvent(timing bool) (*Event, error) {
	flags := uintptr(eventBlockingSync)
	if !timing {
		flags |= eventDisableTiming
	}
	h, err := c.lib.value(cuEventCreate, flags)
	if err != nil {
		return nil, err
	}
	return &Event{lib: c.lib, handle: h}, nil
}

// Close frees the event. It does not wait.
func (e *Event) Close() error { return e.lib.call(cuEventDestroy, e.handle) }

// Record makes the event the place behind all that was enqueued to the stream so far.
func (s *Stream) Record(e *Event) error { return s.lib.call(cuEventRecord, e.handle, s.handle) }

// Wait lets what is enqueued to the stream from now on begin when the event's place is
// reached, as it is recorded now. An event that was never recorded holds nobody up.
func (s *Stream) Wait(e *Event) error { return s.lib.call(cuStreamWaitEvent, s.handle, e.handle, 0) }

// Synchronize waits until the event's place is reached, and tells the failure of work before it.
func (e *Event) Synchronize() error { return e.lib.call(cuEventSynchronize, e.handle) }

// Done tells whether the event's place is reached.
func (e *Event) Done() (bool, error) {
	err := e.lib.call(cuEventQuery, e.handle)
	if r := (*Error)(nil); errors.As(err, &r) && r.Code == notReady {
		return false, nil
	}
	return err == nil, err
}

// Elapsed is the device's time from one event to the other, both with timing and done.
func Elapsed(from, to *Event) (time.Duration, error) {
	ms, err := from.lib.value(cuEventElapsedTime, from.handle, to.handle)
	return time.Duration(float64(math.Float32frombits(uint32(ms))) * float64(time.Millisecond)), err
}
