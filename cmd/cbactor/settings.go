package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
)

// defaultMaxNew is how many tokens a request generates at most that says nothing.
const defaultMaxNew = 256

// addSettings defines the flags of what requests may ask for: what is said with them
// holds for all that do not say otherwise.
func addSettings(cmd *cobra.Command, to *requests.Settings) {
	fs := cmd.Flags()
	for _, s := range requests.All() {
		if s.Flag == "" {
			continue
		}
		usage := s.Help
		if s.Preset != "" {
			usage += " (default: " + s.Preset + ")"
		}
		flag := fs.VarPF(settingFlag{to, s}, s.Flag, "", usage)
		if s.Kind == "" {
			flag.NoOptDefVal = "true"
		}
		group(fs, s.Group)
	}
}

// settingFlag is the flag of a setting.
type settingFlag struct {
	to      *requests.Settings
	setting requests.Setting
}

var _ pflag.Value = settingFlag{}

// Set implements pflag.Value.
func (v settingFlag) Set(text string) error { return v.setting.Parse(v.to, text) }

// String implements pflag.Value; usage has the default.
func (settingFlag) String() string { return "" }

// Type implements pflag.Value.
func (v settingFlag) Type() string {
	if v.setting.Kind == "" {
		return "bool"
	}
	return v.setting.Kind
}

// checkSettings refuses flags that contradict each other, and those whose answer
// nobody would see: text has no place for it.
func (f *generateFlags) checkSettings(fs *pflag.FlagSet) error {
	if err := f.settings.Check(); err != nil {
		return badUsage("%w", err)
	}
	if f.json || f.resume != "" {
		return nil
	}
	for _, name := range []string{"logprobs", "prompt-logprobs", "kept-tokens", "score", "timestamps"} {
		if fs.Changed(name) {
			return badUsage("--%s is told in JSON alone: give --json too", name)
		}
	}
	return nil
}
