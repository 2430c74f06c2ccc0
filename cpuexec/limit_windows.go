package cpuexec

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var globalMemoryStatusEx = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// memoryStatus is Windows' MEMORYSTATUSEX.
type memoryStatus struct {
	length, load                                uint32
	total, available                            uint64
	pageTotal, pageAvailable, virtual, virtual2 uint64
	extended                                    uint64
}

// MemoryLimit is how many bytes the computer has. 0: not known.
func MemoryLimit() int64 {
	var s memoryStatus
	s.length = uint32(unsafe.Sizeof(s))
	if ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&s))); ok == 0 {
		return 0
	}
	return int64(s.total)
}
