//go:build !linux

package cpuexec

// cacheSizes is what the system says of caches: it is not asked here.
func cacheSizes() (private, last int64) { return 0, 0 }

// availableMemory is how many bytes of the process's limit are left; 1 where nothing is. 0:
// not known.
func availableMemory() int64 { return leftOf(MemoryLimit(), Resident()) }
