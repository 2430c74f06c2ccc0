package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/settings"
)

// commandDefaults are the fields that have another default here than in the engine:
// a command runs one engine alone.
var commandDefaults = []engine.Given{{Name: "pin", Text: "true", Called: "the command", Silent: true}}

// engineFlags are the flags of every command that starts an engine.
type engineFlags struct {
	model  string
	called string // the name that it is served by, and that lines of the log have; "": none
	file   string
	given  []engine.Given // by flags, in their order
	config engine.Config  // by check: file, environment and flags
	trace  string         // file, "": none
	record string         // likewise
	taken  []*os.File     // what the command reads and writes beside it
}

// add defines the flags on a command.
func (f *engineFlags) add(cmd *cobra.Command) {
	addModel(cmd, &f.model)
	f.addFields(cmd)
}

// addFields defines one for each field of the configuration.
func (f *engineFlags) addFields(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.Var(pathFlag{path: &f.file}, "config", "YAML file of the engine's configuration; CBACTOR_* variables go over it, flags over both")
	for _, field := range engine.Fields() {
		flag := fs.VarPF(fieldFlag{f, field.Name, field.Syntax()}, dashed(field.Name), "", usage(field))
		if field.Bool() {
			flag.NoOptDefVal = "true"
		}
		if field.Choices != nil {
			complete(cmd, flag.Name, func() []string { return field.Choices })
		}
	}
	for _, name := range engine.Deprecated() {
		fs.VarPF(fieldFlag{f, name, "value"}, dashed(name), "", "an old name").Hidden = true
	}
}

// dashed is a field as flags are written.
func dashed(name string) string { return strings.ReplaceAll(name, "_", "-") }

// usage is the line of help about a field.
func usage(field engine.Field) string {
	fallback := field.Default
	if fallback == "" {
		fallback = field.Derived
	}
	for _, d := range commandDefaults {
		if d.Name == field.Name {
			fallback = d.Text
		}
	}
	notes := []string{"default: " + fallback}
	if r := field.Range(); r != "" {
		notes = append([]string{r}, notes...)
	}
	if field.Acts != engine.Everywhere {
		notes = append(notes, "acts "+string(field.Acts))
	}
	return field.Help + " (" + strings.Join(notes, "; ") + ")"
}

// fieldFlag is the flag of a field.
type fieldFlag struct {
	flags  *engineFlags
	name   string
	syntax string
}

var _ pflag.Value = fieldFlag{}

// Set implements pflag.Value.
func (v fieldFlag) Set(text string) error {
	g := engine.Given{Name: v.name, Text: text, Called: "--" + dashed(v.name)}
	var scratch engine.Config
	if err := scratch.Apply([]engine.Given{g}); err != nil {
		return err // in the words of flagError
	}
	v.flags.given = append(v.flags.given, g)
	return nil
}

// String implements pflag.Value; usage has the default.
func (fieldFlag) String() string { return "" }

// Type implements pflag.Value.
func (v fieldFlag) Type() string { return v.syntax }

// check puts the configuration together and refuses what no model could take.
func (f *engineFlags) check() error {
	sources := [][]engine.Given{commandDefaults}
	if f.file != "" {
		list, err := settings.ReadFile(f.file)
		if err != nil {
			return badFile("--config", err)
		}
		sources = append(sources, list)
	}
	environ, err := settings.Environ(os.Environ())
	if err != nil {
		return err
	}
	f.config = engine.Config{}
	for _, source := range append(sources, environ, f.given) {
		if err := f.config.Apply(withDefaults(source)); err != nil {
			return err
		}
	}
	return nil
}

// withDefaults has what takes a field back give it the default that commands have.
func withDefaults(source []engine.Given) []engine.Given {
	list := slices.Clone(source)
	for i, g := range list {
		for _, d := range commandDefaults {
			if d.Name == g.Name && engine.TakesBack(g.Text) {
				list[i] = d
			}
		}
	}
	return list
}

// hint tells the configuration what will be asked for, unless it has been told.
func (f *engineFlags) hint(h engine.Hints) error {
	if h == (engine.Hints{}) || f.config.Hints != (engine.Hints{}) {
		return nil
	}
	text, err := h.MarshalText()
	if err != nil {
		return err
	}
	return f.config.Apply([]engine.Given{{Name: "hints", Text: string(text), Called: "the requests"}})
}

// addModel defines --model.
func addModel(cmd *cobra.Command, model *string) {
	*model = checkpoint.Embedded
	cmd.Flags().Var(pathFlag{path: model}, "model",
		"model: tiny (part of the program), smollm2, smollm2-bf16, ORG/NAME of a model that was pulled, a checkpoint folder, or a .gguf file")
	complete(cmd, "model", checkpoint.Names)
}

// complete names the values of a flag to shells, which also offer files where it
// takes them.
func complete(cmd *cobra.Command, flag string, values func() []string) {
	directive := cobra.ShellCompDirectiveNoFileComp
	if flag == "model" {
		directive = cobra.ShellCompDirectiveDefault
	}
	err := cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return values(), directive
	})
	if err != nil { // only when the flag does not exist, or twice
		panic(fmt.Sprintf("completion of --%s: %v", flag, err))
	}
}
