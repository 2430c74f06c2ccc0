package main

import (
	"testing"

	"github.com/spf13/pflag"
)

// A bad value is answered with what would be a good one, not with the words of
// whatever reads it.
func TestFlagErrors(t *testing.T) {
	for arg, want := range map[string]string{
		"--temperature=hot":     `--temperature is "hot": it must be a number from 0 to 2`,
		"--top-k=1e3":           `--top-k is "1e3": it must be a whole number from 0 up`,
		"--top-k=99999999999":   `--top-k is "99999999999": it must be a whole number from 0 up`,
		"--ignore-eos=perhaps":  `--ignore-eos is "perhaps": it must be true or false`,
		"--seed=-1":             `--seed is "-1": it must be a whole number from 0 to 18446744073709551615`,
		"--ratio=x":             `--ratio is "x": it must be a number`,
		"--count=x":             `--count is "x": it must be a whole number`,
		"--prompt-ids=1,two":    `--prompt-ids "1,two": "two" is no token id: give whole numbers below 2147483648, separated by commas`,
		"--prompt=":             `--prompt "": the prompt is empty: give some text`,
		"--chat=a\xff":          `--chat "a\xff": the prompt is not UTF-8: byte 2 is 0xff: convert it`,
		"--nothing-of-the-kind": `unknown flag: --nothing-of-the-kind`,
	} {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		var f generateFlags
		f.sampling.add(fs)
		addPrompts(fs, &f.prompts)
		fs.Uint64("seed", 0, "")
		fs.Float64("ratio", 0, "")
		fs.Int("count", 0, "")
		err := fs.Parse([]string{arg})
		if err == nil || flagError(err).Error() != want {
			t.Errorf("%s: %v, want %s", arg, err, want)
		}
	}
}
