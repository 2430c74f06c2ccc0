package storytest

import (
	"slices"
	"strconv"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// Words are what stands behind a verb.
type Words struct {
	T    *testing.T
	Args []datadriven.CmdArg
}

// Numbers are those that the words begin with.
func (w Words) Numbers() (list []int) {
	for _, a := range w.Args {
		n, err := strconv.Atoi(a.Key)
		if err != nil {
			break
		}
		list = append(list, n)
	}
	return list
}

// Flag tells that a word is there.
func (w Words) Flag(name string) bool {
	return slices.ContainsFunc(w.Args, func(a datadriven.CmdArg) bool { return a.Key == name })
}

// Text is the value of a name, or what is meant without.
func (w Words) Text(name, otherwise string) string {
	for _, a := range w.Args {
		if a.Key == name {
			return a.SingleVal(w.T)
		}
	}
	return otherwise
}

// Number is a value that is a number. Any other fails the test.
func (w Words) Number(name string, otherwise int) int {
	w.T.Helper()
	n, err := strconv.Atoi(w.Text(name, strconv.Itoa(otherwise)))
	if err != nil {
		w.T.Fatalf("%s: %v", name, err)
	}
	return n
}
