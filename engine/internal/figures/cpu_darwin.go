package figures

import "syscall"

// model is the CPU's; "": it is not known.
func model() string {
	name, err := syscall.Sysctl("machdep.cpu.brand_string")
	if err != nil {
		return ""
	}
	return name
}
