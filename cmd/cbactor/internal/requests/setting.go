package requests

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cbactor/cbactor/text"
)

// Setting is a thing that a request may ask for: a key of a line, and a flag.
type Setting struct {
	Name   string // the key; "" none: it is a flag only
	Flag   string // without --; "": a key only
	Group  string // of help
	Help   string
	Kind   string // of its value in the help of flags; "": on or off
	Want   string // what it must be, in words
	Preset string // what it is where nothing is said; "": see Help

	read  func(*Settings, *json.Decoder) error // null says nothing
	parse func(*Settings, string) error        // again: a list gets longer
	over  func(to, from *Settings)             // what from says, if it says it
}

// WantError says what a value must be.
type WantError struct{ Want string }

func (e *WantError) Error() string { return "must be " + e.Want }

// Parse reads the text of the setting's flag. A *WantError says what it must be.
func (s Setting) Parse(to *Settings, text string) error {
	err := s.parse(to, text)
	if errors.Is(err, errType) {
		return &WantError{s.Want}
	}
	return err
}

// All are the settings that there are, in the order of help.
func All() []Setting { return table }

// Over puts what from says over s.
func (s *Settings) Over(from Settings) {
	if from.Score != nil && *from.Score {
		s.MaxNewTokens = nil // what was said of tokens to generate is of no use
	}
	for _, setting := range table {
		setting.over(s, &from)
	}
}

// Check refuses settings that contradict each other.
func (s Settings) Check() error {
	if s.scores() && s.MaxNewTokens != nil {
		return fmt.Errorf("score and max_new_tokens %d are given: nothing is generated to score a prompt, leave one out", *s.MaxNewTokens)
	}
	if s.scores() && s.Sequences() > 1 {
		return fmt.Errorf("score and n %d are given: a prompt has one score, leave one out", s.Sequences())
	}
	return text.CheckStops(s.Stop)
}

func (s Settings) scores() bool { return s.Score != nil && *s.Score }

// Sequences is how many are generated.
func (s Settings) Sequences() int {
	if s.N == nil {
		return 1
	}
	return *s.N
}

// scalar is a setting of one value, read as JSON and parsed as a flag, which ok may
// refuse.
func scalar[T any](s Setting, at func(*Settings) **T, parse func(string) (T, error), ok func(T) bool) Setting {
	set := func(to *Settings, v T) error {
		if !ok(v) {
			return errType
		}
		*at(to) = &v
		return nil
	}
	s.read = func(to *Settings, dec *json.Decoder) error {
		var v *T
		if err := dec.Decode(&v); err != nil || v == nil {
			return err
		}
		return set(to, *v)
	}
	s.parse = func(to *Settings, text string) error {
		v, err := parse(text)
		if err != nil {
			return errType
		}
		return set(to, v)
	}
	s.over = func(to, from *Settings) {
		if v := *at(from); v != nil {
			*at(to) = v
		}
	}
	return s
}

// many is a setting that is a list. elements reads it as JSON, where null is nil;
// parse adds what a flag says.
func many[T any](s Setting, at func(*Settings) *[]T, elements func(*json.Decoder) ([]T, error), parse func(string) ([]T, error)) Setting {
	s.read = func(to *Settings, dec *json.Decoder) (err error) {
		*at(to), err = elements(dec)
		return err
	}
	s.parse = func(to *Settings, text string) error {
		more, err := parse(text)
		*at(to) = append(*at(to), more...)
		return err
	}
	s.over = func(to, from *Settings) {
		if list := *at(from); list != nil {
			*at(to) = list
		}
	}
	return s
}
