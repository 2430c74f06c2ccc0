package cuda

const captureThreadLocal = 1 // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: calls of other threads break no capture

// Graph is work that was captured and is enqueued by one call.
type Graph struct {
	lib    *Library
	handle uintptr
}

// Capture makes a graph of what enqueue enqueues to the stream, which is not done now. Other
// streams take part from where they wait for an event of this one, and must come back to it
// the same way. enqueue must not take or give back memory, wait, or load code. Kernels need not
// have been launched before: a driver that loads code late has loaded a kernel's when its handle
// was taken, by Module.Function. Addresses are captured, contents are not.
func (s *Stream) Capture(enqueue func() error) (*Graph, error) {
	if err := s.lib.call(cuStreamBeginCapture, s.handle, captureThreadLocal); err != nil {
		return nil, err
	}
	failed := enqueue()
	end := [11]uintptr{s.handle}
	err := s.lib.check(cuStreamEndCapture, s.lib.driver.call(cuStreamEndCapture, &end, 2, -1, nil))
	captured := end[1]
	if captured != 0 {
		defer s.lib.call(cuGraphDestroy, captured) // what was instantiated has a copy; a failure leaks it, and cannot be told twice
	}
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	handle, err := s.lib.value(cuGraphInstantiateWithFlags, captured, 0)
	if err != nil {
		return nil, err
	}
	return &Graph{lib: s.lib, handle: handle}, nil
}

// Upload makes the graph ready on the device, so that its first Launch is as quick as others.
func (g *Graph) Upload(s *Stream) error { return g.lib.call(cuGraphUpload, g.handle, s.handle) }

// Launch enqueues all of the graph. A graph runs once at a time.
func (g *Graph) Launch(s *Stream) error { return g.lib.call(cuGraphLaunch, g.handle, s.handle) }

// Close frees the graph. It must not be running.
func (g *Graph) Close() error { return g.lib.call(cuGraphExecDestroy, g.handle) }
