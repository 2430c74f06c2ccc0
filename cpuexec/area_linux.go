package cpuexec

import "golang.org/x/sys/unix"

// adviseHuge asks for huge pages. Without them the memory is as good, a few
// percent slower, so a refusal is no error.
func adviseHuge(mem []byte) { _ = unix.Madvise(mem, unix.MADV_HUGEPAGE) }
