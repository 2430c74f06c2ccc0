package requests

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// The kinds of settings. Each takes a name, a group and help, and fills in the rest.

func (s Setting) of(kind, want string) Setting {
	s.Kind, s.Want = kind, want
	if s.Flag == "" && s.Group != "" {
		s.Flag = strings.ReplaceAll(s.Name, "_", "-")
	}
	return s
}

func number(s Setting, from, to float64, at func(*Settings) **float64) Setting {
	s = s.of("number", fmt.Sprintf("a number from %g to %g", from, to))
	parse := func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }
	return scalar(s, at, parse, func(v float64) bool { return v >= from && v <= to }) // NaN is neither
}

func whole(s Setting, from, to int, at func(*Settings) **int) Setting {
	want := fmt.Sprintf("a whole number from %d to %d", from, to)
	if to == math.MaxInt32 {
		want = fmt.Sprintf("a whole number from %d up", from)
	}
	return scalar(s.of("int", want), at, strconv.Atoi, func(v int) bool { return v >= from && v <= to })
}

func yes(s Setting, at func(*Settings) **bool) Setting {
	return scalar(s.of("", "true or false"), at, strconv.ParseBool, func(bool) bool { return true })
}

// duration is a setting of a time above 0, a text in JSON as well.
func duration(s Setting, at func(*Settings) **time.Duration) Setting {
	s = scalar(s.of("time", `a time above 0, such as "1.5s" or "2m"`), at, time.ParseDuration, func(d time.Duration) bool { return d > 0 })
	s.read = func(to *Settings, dec *json.Decoder) error {
		var text *string
		if err := dec.Decode(&text); err != nil || text == nil {
			return err
		}
		return s.parse(to, *text)
	}
	return s
}

func seed(s Setting) Setting {
	parse := func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) }
	at := func(s *Settings) **uint64 { return &s.Seed }
	return scalar(s.of("uint", "a whole number from 0 to 18446744073709551615"), at, parse, func(uint64) bool { return true })
}
