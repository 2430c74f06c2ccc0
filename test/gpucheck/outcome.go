package main

import (
	"bufio"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// outcome is what the tests of a part say.
type outcome struct {
	Passed  int       `json:"passed"`
	Failed  []string  `json:"failed,omitempty"`
	Skipped []skipped `json:"skipped,omitempty"`
}

// skipped is a test that was left out.
type skipped struct {
	Test string `json:"test"`
	Why  string `json:"why"`
}

// Lines of a test binary with -test.v.
var (
	runs = regexp.MustCompile(`^=== (RUN|NAME|CONT)\s+(\S+)`)
	ends = regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP): (\S+) `)
	says = regexp.MustCompile(`^\s+\S+\.go:\d+: (.*)`)
)

// outcomeOf reads the output of a test binary.
func outcomeOf(output io.Reader) (outcome, error) {
	var o outcome
	current, said := "", map[string]string{}
	open := map[string]bool{} // that have begun and not ended
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if m := runs.FindStringSubmatch(line); m != nil {
			if current = m[2]; m[1] == "RUN" {
				open[current] = true
			}
		} else if m := ends.FindStringSubmatch(line); m != nil {
			o.end(m[1], m[2], said[m[2]])
			delete(open, m[2])
		} else if m := says.FindStringSubmatch(line); m != nil {
			said[current] = m[1]
		}
	}
	for _, name := range slices.Sorted(maps.Keys(open)) { // it was killed, or has crashed
		o.Failed = append(o.Failed, name+": has not ended")
	}
	return o, lines.Err()
}

// end counts a test. A test whose own tests were counted is one more.
func (o *outcome) end(how, name, said string) {
	switch how {
	case "PASS":
		o.Passed++
	case "FAIL":
		o.Failed = append(o.Failed, strings.TrimSuffix(name+": "+said, ": "))
	default:
		o.Skipped = append(o.Skipped, skipped{name, said})
	}
}

// leftOut are the tests that were left out for a reason.
func (o *outcome) leftOut(why string) (names []string) {
	for _, s := range o.Skipped {
		if s.Why == why {
			names = append(names, s.Test)
		}
	}
	return names
}
