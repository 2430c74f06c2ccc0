package main

import (
	"strings"

	"github.com/spf13/cobra"
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
