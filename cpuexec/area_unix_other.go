//go:build unix && !linux

package cpuexec

// adviseHuge does nothing: huge pages are not asked for here.
func adviseHuge([]byte) {}
