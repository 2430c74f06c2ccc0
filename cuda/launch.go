package cuda

import (
	"fmt"
	"math"
)

// maxArgs is how many arguments a kernel may have here.
const maxArgs = 64

// Arg is an argument of a kernel, in as many of its low bytes as the parameter has.
type Arg uint64

// Address is an argument that is a pointer.
func Address(p Pointer) Arg { return Arg(p) }

// Int is an argument of 32 bits.
func Int(n int) Arg { return Arg(uint32(int32(n))) }

// Long is an argument of 64 bits.
func Long(n int) Arg { return Arg(uint64(n)) }

// Float is an argument of 32 bits.
func Float(x float32) Arg { return Arg(math.Float32bits(x)) }

// Grid is how many there are of something in each direction: blocks of a launch, threads
// of a block. None may be 0.
type Grid struct{ X, Y, Z uint32 }

// Launch enqueues the kernel: blocks of threads each, with so many bytes of shared memory
// beside the kernel's own. args are the kernel's parameters, in order and of their types:
// the driver cannot check them. They are read before it returns.
func (f *Function) Launch(s *Stream, blocks, threads Grid, shared uint32, args ...Arg) error {
	if len(args) > maxArgs {
		return fmt.Errorf("%w: kernel %s with %d arguments, and %d may be", ErrCall, f.name, len(args), maxArgs)
	}
	a := [9]uintptr{
		f.handle, uintptr(blocks.X), uintptr(blocks.Y), uintptr(blocks.Z),
		uintptr(threads.X), uintptr(threads.Y), uintptr(threads.Z), uintptr(shared), s.handle,
	}
	if r := f.lib.driver.launch(&a, args); r != success {
		return fmt.Errorf("%w: kernel %s", f.lib.check(cuLaunchKernel, r), f.name)
	}
	return nil
}
