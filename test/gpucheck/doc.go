// Command gpucheck runs the tests for GPUs and the benchmark on a real device, from binaries that were
// built elsewhere, and writes what came of it: a record as JSON, and a page of it.
//
// scripts/gpu-check calls it, scripts/gpu-check-build makes the binaries. Nothing is compiled here, and
// nothing is fetched. Each part is a process of its own with a deadline, behind which its whole group is
// killed; a part that fails does not keep the others from running. The exit status is 1 if one has
// failed, and 2 if nothing could be run.
//
// Tests leave out what only an emulated device can do, and say why: the record has those, too. A test
// that loses its device runs in a process of its own.
//
// With --emulated the same runs on the fake driver of package cuda/emu, small: that shows that the check
// works, and nothing of a device.
package main
