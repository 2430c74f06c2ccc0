package cpuexec

import (
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// MemoryLimit is how many bytes the process may use: the least of its control
// groups' limits (version 2 and 1) and the physical memory. 0: not known.
func MemoryLimit() int64 {
	limit := int64(math.MaxInt64)
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		limit = int64(info.Totalram) * int64(info.Unit)
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err == nil { // else the system has no control groups
		limit = min(limit, groupLimit(string(groups), "/sys/fs/cgroup"))
	}
	if limit == math.MaxInt64 {
		return 0
	}
	return limit
}

// groupLimit finds the least limit of the groups that a /proc/self/cgroup names,
// and of those above them. Within a container the path may be another one than the
// names say; the root is then the container's.
func groupLimit(groups, root string) int64 {
	limit := int64(math.MaxInt64)
	for line := range strings.Lines(groups) {
		field := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		if len(field) != 3 {
			continue
		}
		base, file := root, "memory.max"
		if field[1] != "" {
			if !strings.Contains(","+field[1]+",", ",memory,") {
				continue
			}
			base, file = path.Join(root, "memory"), "memory.limit_in_bytes"
		}
		for dir := path.Clean("/" + field[2]); ; dir = path.Dir(dir) {
			limit = min(limit, readLimit(path.Join(base, dir, file)))
			if dir == "/" {
				break
			}
		}
	}
	return limit
}

// readLimit is a file's number; one that is missing or says "max" is no limit.
func readLimit(name string) int64 {
	text, err := os.ReadFile(name)
	if err != nil {
		return math.MaxInt64
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n <= 0 {
		return math.MaxInt64
	}
	return n
}
