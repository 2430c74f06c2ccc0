package cuda

import "errors"

// Context is a device's primary context, which the libraries of a process share.
type Context struct {
	device *Device
	lib    *Library
	handle uintptr
}

// Retain makes the device's context live. It binds no thread.
func (d *Device) Retain() (*Context, error) {
	handle, err := d.lib.value(cuDevicePrimaryCtxRetain, d.handle)
	if err != nil {
		return nil, err
	}
	return &Context{device: d, lib: d.lib, handle: handle}, nil
}

// Bind makes the context the calling thread's, which runtime.LockOSThread must hold.
func (c *Context) Bind() error { return c.lib.call(cuCtxSetCurrent, c.handle) }

// Synchronize waits until all work on the device is done, and tells its failure.
func (c *Context) Synchronize() error { return c.lib.call(cuCtxSynchronize) }

// Close takes the context from the calling thread and gives it back. All that was made
// from it must be closed before.
func (c *Context) Close() error {
	unbound := c.lib.call(cuCtxSetCurrent, 0)
	return errors.Join(unbound, c.lib.call(cuDevicePrimaryCtxRelease, c.device.handle))
}
