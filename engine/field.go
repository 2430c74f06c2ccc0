package engine

import (
	"encoding"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Field describes an entry of Config, the same for files, environment, flags,
// documentation and checks.
type Field struct {
	Name    string   // as files have it: max_batch_tokens
	Help    string   // what it is
	Default string   // its text; "": see Derived
	Derived string   // what decides when it is not given
	Min     float64  // bounds of a number; where 0 means not given in a Config, a text of 0 is refused
	Max     float64  // 0: no bounds
	Choices []string // what a word may be; nil: anything
	None    string   // the text that "none" stands for; "": not given
	Acts    Acts

	at func(*Config) value
}

// Acts says where a field has an effect.
type Acts string

// Where fields act. One that is given where it does not act is named in
// Resolved.Notices.
const (
	Everywhere   Acts = ""
	OwnExecutor  Acts = "with an executor of the engine's own"
	OnCPU        Acts = "on a CPU"
	OnGPU        Acts = "on a GPU"
	AmongRanks   Acts = "with several ranks"
	AmongGPUs    Acts = "with ranks on several GPUs, which are not there yet"
	WithOffload  Acts = "with cpu_offload_space"
	WithAdapters Acts = "with max_adapters"
	WithIntegers Acts = "with compute int8, or on a GPU"
	Nowhere      Acts = "nowhere: what it chooses is always so"
)

// Fields are all of them, in the order of documentation.
func Fields() []Field { return slices.Clone(fields) }

// Syntax names the type of the field's value in a few words: "int", "bool",
// "fifo|prefill_first".
func (f Field) Syntax() string {
	if f.Choices != nil {
		return strings.Join(f.Choices, "|")
	}
	return f.at(new(Config)).syntax()
}

// Bool says that the field is true or false.
func (f Field) Bool() bool { return f.Syntax() == "bool" }

// Range is what numbers the field takes, or "".
func (f Field) Range() string {
	if f.Max == 0 {
		return ""
	}
	return fmt.Sprintf("%s to %s", formatFloat(f.Min), formatFloat(f.Max))
}

var errRange = errors.New("out of range")

// set parses text into c. "auto", "none" and "null" take back what was set before,
// unless they are values of the field.
func (f *Field) set(c *Config, text string) error {
	v := f.at(c)
	switch {
	case text == "none" && f.None != "":
		text = f.None
	case TakesBack(text) && !slices.Contains(f.Choices, text):
		v.clear()
		return nil
	}
	before := *c
	err := v.set(text)
	switch {
	case err == nil && f.Min > 0 && v.get() == nil:
		err = errRange
	case err == nil:
		err = f.check(c)
	}
	if err != nil {
		*c = before
		wrong := f.wrong(text, err)
		wrong.Want += f.taken()
		return wrong
	}
	return nil
}

// taken are the words that a text may be, where a program has other values for that.
func (f *Field) taken() string {
	switch {
	case f.None != "":
		return "; auto: the default"
	case f.Choices == nil && f.Max != 0:
		return ", or auto"
	}
	return ""
}

// TakesBack says that a text stands for no value, for a field that it is no value of.
func TakesBack(text string) bool { return text == "auto" || text == "none" || text == "null" }

// check refuses a value that is out of bounds, whoever has set it.
func (f *Field) check(c *Config) error {
	got := f.at(c).get()
	if got == nil || f.None != "" && format(got) == f.None {
		return nil
	}
	switch v := got.(type) {
	case string:
		if f.Choices != nil && !slices.Contains(f.Choices, v) {
			return errRange
		}
	case interface{ check() error }:
		return v.check()
	case int:
		return f.bounds(float64(v))
	case float64:
		return f.bounds(v)
	}
	return nil
}

// inForce is the field's value in a Config that is resolved; nil: none.
func (f *Field) inForce(c *Config) any {
	v := f.at(c).inForce()
	if s, ok := v.(string); ok && s == "" {
		return nil
	}
	if f.None != "" && format(v) == f.None {
		return nil
	}
	return v
}

func (f *Field) bounds(v float64) error {
	if v >= f.Min && v <= f.Max { // no NaN is
		return nil
	}
	return errRange
}

// wrong says what is wrong with a value and what the field takes.
func (f *Field) wrong(text string, err error) *ValueError {
	want := err.Error()
	switch {
	case f.Choices != nil:
		want = "must be " + alternatives(f.Choices)
	case f.Max != 0 && f.Syntax() == "int":
		want = "must be a whole number from " + f.Range()
	case f.Max != 0:
		want = "must be a number from " + f.Range()
	case f.Bool():
		want = "must be true, false or auto"
	case f.Syntax() == "uint":
		want = "must be a whole number from 0 to 2^64-1"
	}
	if f.None != "" {
		want += ", or none"
	}
	return &ValueError{Name: f.Name, Text: text, Want: want}
}

// ValueError is a value that a field does not take. Its class is ErrConfig.
type ValueError struct {
	Name string // of the field, as the user called it
	Text string
	Want string // what it must be
}

func (e *ValueError) Error() string {
	text := e.Text
	if len(text) > maxShown {
		text = text[:maxShown] + "..."
	}
	if quoted := strconv.Quote(text); text == "" || strings.ContainsAny(text, " :") || len(quoted) > len(text)+2 {
		text = quoted
	}
	return fmt.Sprintf("%v: %s is %s: %s", ErrConfig, e.Name, text, e.Want)
}

// maxShown bounds what a message repeats of a value, in bytes.
const maxShown = 60

// Unwrap gives the class.
func (e *ValueError) Unwrap() error { return ErrConfig }

func alternatives(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// format is the text of what value.get gives, which value.set takes.
func format(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case float64:
		return formatFloat(v)
	case []string:
		return strings.Join(v, ",")
	case encoding.TextMarshaler:
		text, err := v.MarshalText()
		if err != nil {
			panic(err) // none of the types has one
		}
		return string(text)
	}
	return fmt.Sprint(v)
}

func formatFloat(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
