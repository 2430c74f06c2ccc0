package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpCommand is cobra's own, but that a topic there is not is bad usage.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		ValidArgsFunction: func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
			for _, cmd := range root.Commands() {
				names = append(names, cmd.Name())
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usageError{error: badUsage("there is no help on %q", strings.Join(args, " ")), command: root.CommandPath()}
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

// groupKey is the annotation with the heading of a flag in help.
const groupKey = "group"

// group puts the flags that are under no heading yet under one.
func group(fs *pflag.FlagSet, heading string) {
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Annotations[groupKey] == nil {
			f.Annotations = map[string][]string{groupKey: {heading}}
		}
	})
}

// helpWidth is where lines of help about flags are broken, in characters.
const helpWidth = 110

// groupedUsage is the usage of a command with many flags: in groups, each in the
// order in which it was defined.
func groupedUsage(cmd *cobra.Command) error {
	cmd.InheritedFlags() // adds those of all commands
	var headings []string
	groups := map[string]*pflag.FlagSet{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		heading := "Of every command"
		if g := f.Annotations[groupKey]; g != nil {
			heading = g[0]
		}
		if !slices.Contains(headings, heading) {
			headings = append(headings, heading)
			groups[heading] = pflag.NewFlagSet("", pflag.ContinueOnError)
			groups[heading].SortFlags = false
		}
		groups[heading].AddFlag(f)
	})
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n\nExamples:\n%s\n", cmd.UseLine(), cmd.Example)
	for _, heading := range headings {
		fmt.Fprintf(&b, "\n%s:\n%s", heading, groups[heading].FlagUsagesWrapped(helpWidth))
	}
	_, err := fmt.Fprint(cmd.OutOrStderr(), b.String())
	return err
}
