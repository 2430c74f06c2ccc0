package requests

import (
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"
)

// linePrefix begins the id of a request that has none of its own: its line follows.
const linePrefix = "line-"

// claims remembers the ids that the lines of a file have given themselves, each as a
// hash of 8 bytes beside the number of its line: files may be of any length.
type claims struct {
	seed  maphash.Seed
	lines map[uint64]int
}

func newClaims() claims { return claims{maphash.MakeSeed(), map[uint64]int{}} }

// claim takes an id for a line. The error wraps ErrTaken when it is another's: of a
// line before, or one that "line-N" is kept for.
func (c *claims) claim(id string, line int) error {
	if n, is := lineID(id); is {
		if n != line {
			return fmt.Errorf("%w: %.80q is kept for line %d", ErrTaken, id, n)
		}
		return nil // no other line can have it
	}
	h := maphash.String(c.seed, id)
	if first, taken := c.lines[h]; taken {
		return fmt.Errorf("%w: %.80q is that of line %d", ErrTaken, id, first)
	}
	c.lines[h] = line
	return nil
}

// defaultID is the id of a line that gives none.
func defaultID(line int) string { return linePrefix + strconv.Itoa(line) }

// lineID says which line an id is the default of.
func lineID(id string) (line int, is bool) {
	digits, is := strings.CutPrefix(id, linePrefix)
	if !is {
		return 0, false
	}
	line, err := strconv.Atoi(digits)
	return line, err == nil && line > 0 && defaultID(line) == id
}
