package cuda

import (
	"runtime"
	"unsafe"
)

const streamNonBlocking = 1 // CU_STREAM_NON_BLOCKING: it never waits for the default stream

// Stream is a queue of work, done in order. Work of two streams has an order only where
// one waits for an event of the other.
type Stream struct {
	lib    *Library
	handle uintptr
}

// NewStream makes a stream.
func (c *Context) NewStream() (*Stream, error) {
	h, err := c.lib.value(cuStreamCreate, streamNonBlocking)
	if err != nil {
		return nil, err
	}
	return &Stream{lib: c.lib, handle: h}, nil
}

// Close frees the stream when its work is done. It does not wait.
func (s *Stream) Close() error { return s.lib.call(cuStreamDestroy, s.handle) }

// Synchronize waits until all work of the stream is done, and tells its failure.
func (s *Stream) Synchronize() error { return s.lib.call(cuStreamSynchronize, s.handle) }

// CopyIn enqueues a copy of src to the device. src should be pinned memory, which must stay
// as it is until the copy is done; of other memory the driver makes a copy before it returns.
func (s *Stream) CopyIn(dst Pointer, src []byte) error {
	err := s.lib.with(unsafe.Pointer(unsafe.SliceData(src)), 1, cuMemcpyHtoDAsync, uintptr(dst), 0, uintptr(len(src)), s.handle)
	runtime.KeepAlive(src)
	return err
}

// CopyOut enqueues a copy from the device to dst. dst should be pinned memory, which must not
// be touched until the copy is done; with other memory the call waits for that.
func (s *Stream) CopyOut(dst []byte, src Pointer) error {
	err := s.lib.with(unsafe.Pointer(unsafe.SliceData(dst)), 0, cuMemcpyDtoHAsync, 0, uintptr(src), uintptr(len(dst)), s.handle)
	runtime.KeepAlive(dst)
	return err
}

// Copy enqueues a copy of n bytes within the device.
func (s *Stream) Copy(dst, src Pointer, n int) error {
	return s.lib.call(cuMemcpyDtoDAsync, uintptr(dst), uintptr(src), uintptr(n), s.handle)
}

// Fill enqueues the writing of n bytes of one value.
func (s *Stream) Fill(dst Pointer, value byte, n int) error {
	return s.lib.call(cuMemsetD8Async, uintptr(dst), uintptr(value), uintptr(n), s.handle)
}

// Handle is the driver's own, for libraries that enqueue work of theirs.
func (s *Stream) Handle() uintptr { return s.handle }
