package main

import (
	"testing"

	"github.com/spf13/cobra"
)

// A bad value is answered with what would be a good one, not with the words of
// whatever reads it.
func TestFlagErrors(t *testing.T) {
	for arg, want := range map[string]string{
		"--temperature=hot":     `--temperature is "hot": must be a number from 0 to 2`,
		"--top-k=1e3":           `--top-k is "1e3": must be a whole number from 0 up`,
		"--top-k=99999999999":   `--top-k is "99999999999": must be a whole number from 0 up`,
		"--temperature=NaN":     `--temperature is "NaN": must be a number from 0 to 2`,
		"--top-p=1.5":           `--top-p is "1.5": must be a number from 0 to 1`,
		"--max-new-tokens=0":    `--max-new-tokens is "0": must be a whole number from 1 up`,
		"--logprobs=51":         `--logprobs is "51": must be a whole number from -1 to 50`,
		"--timeout=30":          `--timeout is "30": must be a time above 0, such as "1.5s" or "2m"`,
		"--timeout=-1s":         `--timeout is "-1s": must be a time above 0, such as "1.5s" or "2m"`,
		"--logit-bias=5":        `--logit-bias "5": "5" is no id=value: give a token id and a number, separate several by commas`,
		"--bad-words=":          `--bad-words is "": must be a list of texts and lists of token ids, none of them empty`,
		"--ignore-eos=perhaps":  `--ignore-eos is "perhaps": must be true or false`,
		"--seed=-1":             `--seed is "-1": must be a whole number from 0 to 2^64-1`,
		"--seeds=-1":            `--seeds is "-1": must be a whole number from 0 to 2^64-1`,
		"--threads=1e3":         `--threads is "1e3": must be a whole number from 1 to 1024, or auto`,
		"--compute=f64":         `--compute is "f64": must be auto, f32, bf16 or int8`,
		"--pin=maybe":           `--pin is "maybe": must be true, false or auto`,
		"--block-size=-1":       `--block-size is "-1": must be a whole number from 1 to 4096, or auto`,
		"--hints=requests=x":    `--hints is "requests=x": requests is "x", no whole number`,
		"--ratio=x":             `--ratio is "x": must be a number`,
		"--count=x":             `--count is "x": must be a whole number`,
		"--prompt-ids=1,two":    `--prompt-ids "1,two": "two" is no token id: give whole numbers below 2147483648, separated by commas`,
		"--prompt=":             `--prompt "": the prompt is empty: give some text`,
		"--chat=a\xff":          `--chat "a\xff": the prompt is not UTF-8: byte 2 is 0xff: convert it`,
		"--nothing-of-the-kind": `unknown flag: --nothing-of-the-kind`,
	} {
		cmd := &cobra.Command{Use: "x"}
		fs := cmd.Flags()
		var f generateFlags
		f.engine.add(cmd)
		addSettings(cmd, &f.settings)
		addPrompts(fs, &f.prompts)
		fs.Uint64("seeds", 0, "")
		fs.Float64("ratio", 0, "")
		fs.Int("count", 0, "")
		err := fs.Parse([]string{arg})
		if err == nil || flagError(err).Error() != want {
			t.Errorf("%s: %v, want %s", arg, err, want)
		}
	}
}
