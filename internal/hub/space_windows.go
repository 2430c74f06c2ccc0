package hub

import "golang.org/x/sys/windows"

// freeSpace is how many bytes may be written on the disk of a folder; ok: it is known.
func freeSpace(dir string) (bytes uint64, ok bool) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, false
	}
	err = windows.GetDiskFreeSpaceEx(path, &bytes, nil, nil)
	return bytes, err == nil
}
