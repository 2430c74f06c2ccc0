package engine

import (
	"encoding"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// value is a place in a Config, whatever its type.
type value interface {
	// set parses a text, and leaves the place alone when it is none of the type's.
	set(text string) error
	// clear makes the place what it is in a zero Config.
	clear()
	// get is nil when the place is as in a zero Config. Otherwise it is what it
	// holds: an int, uint64, float64, bool, string, []string, or a type with MarshalText.
	get() any
	// inForce is what the place holds; nil: nothing.
	inForce() any
	// syntax names the type in a few words.
	syntax() string
}

// scalar is a number, a word or a bool, which is not given when it is zero.
type scalar[T int | uint64 | float64 | string | bool] struct {
	at    *T
	parse func(string) (T, error)
	name  string
}

func (s scalar[T]) set(text string) error {
	v, err := s.parse(text)
	if err == nil {
		*s.at = v
	}
	return err
}

func (s scalar[T]) clear() { *s.at = *new(T) }

func (s scalar[T]) get() any {
	if *s.at == *new(T) {
		return nil
	}
	return *s.at
}

func (s scalar[T]) inForce() any { return *s.at }

func (s scalar[T]) syntax() string { return s.name }

func whole(at *int) value { return scalar[int]{at, strconv.Atoi, "int"} }
func seed(at *uint64) value {
	return scalar[uint64]{at, func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) }, "uint"}
}
func real(at *float64) value {
	return scalar[float64]{at, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }, "float"}
}
func word(at *string) value {
	return scalar[string]{at, func(s string) (string, error) { return s, nil }, "word"}
}
func boolean(at *bool) value {
	return scalar[bool]{at, func(s string) (bool, error) {
		v, ok := parseBool(s)
		if !ok {
			return false, fmt.Errorf("%.40q is neither true nor false", s)
		}
		return v, nil
	}, "bool"}
}

// optional is a pointer, which is not given when it is nil.
type optional[T any] struct {
	at    **T
	inner func(*T) value
}

func opt[T any](at **T, inner func(*T) value) value { return optional[T]{at, inner} }

// set makes a new T: the old one may be shared with the caller's Config.
func (o optional[T]) set(text string) error {
	v := new(T)
	if err := o.inner(v).set(text); err != nil {
		return err
	}
	*o.at = v
	return nil
}

func (o optional[T]) clear() { *o.at = nil }

func (o optional[T]) get() any {
	if *o.at == nil {
		return nil
	}
	return **o.at
}

func (o optional[T]) inForce() any { return o.get() }

func (o optional[T]) syntax() string { return o.inner(new(T)).syntax() }

// composite is a type that parses itself and can check what a program has set.
type composite interface {
	comparable
	encoding.TextMarshaler
	check() error
}

// structured is a composite, which is not given when it is zero.
type structured[T composite, P interface {
	*T
	encoding.TextUnmarshaler
}] struct {
	at   *T
	form string
}

func (s structured[T, P]) set(text string) error { return P(s.at).UnmarshalText([]byte(text)) }
func (s structured[T, P]) clear()                { *s.at = *new(T) }

func (s structured[T, P]) get() any {
	if *s.at == *new(T) {
		return nil
	}
	return *s.at
}

func (s structured[T, P]) inForce() any { return s.get() }

func (s structured[T, P]) syntax() string { return s.form }

func hints(at *Hints) value {
	return structured[Hints, *Hints]{at, "max_prompt=N,max_new=N,requests=N"}
}

func device(at *Device) value { return structured[Device, *Device]{at, "auto|cpu|cuda|cuda:N"} }

func graphs(at *Graphs) value { return structured[Graphs, *Graphs]{at, "bool[,bool]"} }

func compile(at *Compile) value { return structured[Compile, *Compile]{at, "mode=MODE,dynamic=bool"} }

// seconds is a duration, a number of seconds in text.
type seconds struct{ at *time.Duration }

func (s seconds) set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(math.Abs(v) < float64(math.MaxInt64)/float64(time.Second)) {
		return fmt.Errorf("%.40q is no number of seconds", text)
	}
	*s.at = time.Duration(v * float64(time.Second))
	return nil
}
func (s seconds) clear() { *s.at = 0 }
func (s seconds) get() any {
	if *s.at == 0 {
		return nil
	}
	return s.at.Seconds()
}
func (s seconds) inForce() any   { return s.get() }
func (s seconds) syntax() string { return "seconds" }

func parseBool(s string) (v, ok bool) { return s == "true", s == "true" || s == "false" }

// parsePairs gives the pairs of "name=value,name=value", each name once.
func parsePairs(text string, pair func(name, value string) error) error {
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		switch {
		case !ok:
			return fmt.Errorf("%.40q is no name=value", part)
		case seen[name]:
			return fmt.Errorf("%.40q is given twice", name)
		}
		seen[name] = true
		if err := pair(name, value); err != nil {
			return err
		}
	}
	return nil
}
