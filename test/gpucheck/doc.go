// Command gpucheck runs the tests for GPUs and the benchmark on a real device, from binaries that were
// built elsewhere, and writes what came of it: a record as JSON, and a page of it.
//
// scripts/gpu-check calls it, scripts/gpu-check-build makes the binaries. Nothing is compiled here, and
// nothing is fetched. Each part is a process of its own with a deadline, behind which its whole group is
// killed, as it is when the check is interrupted; a part that fails does not keep the others from running.
// A part that no time was left for, or whose tests have shown nothing, has not passed. The exit status is 1
// if one has not, and 2, without a record, if nothing could be checked.
//
// Tests leave out what only an emulated device can do, and say why: the record has those, too. A test
// that loses its device runs in a process of its own.
//
// With --emulated the same runs on the fake driver of package cuda/emu, and on no other, small: that shows
// that the check works, and nothing of a device.
package main
