package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/engine"
)

// flagError says what is wrong with the value of a flag in the words of this command,
// without those of the libraries that read it.
func flagError(err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	flag, cause := bad.GetFlag(), bad.Unwrap()
	if field := (*engine.ValueError)(nil); errors.As(cause, &field) {
		return fmt.Errorf("--%s is %.40q: %s", flag.Name, bad.GetValue(), field.Want)
	}
	if want := (*requests.WantError)(nil); errors.As(cause, &want) {
		return fmt.Errorf("--%s is %.40q: %w", flag.Name, bad.GetValue(), want)
	}
	if errors.As(cause, new(*strconv.NumError)) {
		return fmt.Errorf("--%s is %.40q: must be %s", flag.Name, bad.GetValue(), wantedOf(flag))
	}
	return fmt.Errorf("--%s %.40q: %w", flag.Name, bad.GetValue(), cause)
}

// wantedNote is the annotation of flags that say themselves what they take.
const wantedNote = "cbactor_wanted"

// wantedOf is what a flag takes, as exactly as its type says unless it says more.
func wantedOf(flag *pflag.Flag) string {
	if note := flag.Annotations[wantedNote]; len(note) > 0 {
		return note[0]
	}
	switch flag.Value.Type() {
	case "bool":
		return "true or false"
	case "float64":
		return "a number"
	case "uint64":
		return "a whole number from 0 to 2^64-1"
	}
	return "a whole number"
}
