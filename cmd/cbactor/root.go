package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/internal/nearest"
)

// root is the tree of commands.
func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "cbactor",
		Short: "Generate text from language models with continuous batching",
		Long: "cbactor generates text from language models, many requests at a time.\n" +
			"Without --model it uses the small story writer that is part of the program.",
		Args:          noArguments,
		Version:       builtVersion(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetIn(c.stdin)
	root.SetOut(c.stdout)
	root.SetErr(c.console)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 { // a flag of a command that there is not
			return noArguments(cmd, words)
		}
		return usageError{error: suggest(cmd, flagError(err)), command: cmd.CommandPath()}
	})
	root.PersistentFlags().CountVarP(&c.verbose, "verbose", "v", "log what happens; twice: also what the actor library says")
	root.AddCommand(c.generateCommand(), c.serveCommand(), c.statusCommand(), c.healthCommand(), c.pauseCommand(), c.weightsCommand(), c.benchCommand(), c.inspectCommand(), c.configCommand(), c.convertCommand(), c.pullCommand(), c.tokenizeCommand(), c.detokenizeCommand(), c.chatTemplateCommand(), c.certsCommand(), c.simCommand(), c.explainCommand(), c.replayCommand(), c.devicesCommand(), c.versionCommand())
	root.SetHelpCommand(helpCommand(root))
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			// So that a shell that is not known is bad usage.
			cmd.Args, cmd.RunE = noArguments, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
	return root
}

// flagsOfOthers are flags of vLLM, SGLang and llama.cpp, with those that mean the same here.
var flagsOfOthers = map[string]string{
	"dtype": "compute", "kv-cache-dtype": "kv-dtype", "cache-type-k": "kv-dtype", "quantization": "quantize", "model-path": "model",
	"max-model-len": "max-context", "context-length": "max-context", "ctx-size": "max-context",
	"max-num-seqs": "max-requests-per-batch", "max-running-requests": "max-requests-per-batch", "max-num-batched-tokens": "max-batch-tokens",
	"block-size": "page-size", "gpu-memory-utilization": "max-memory-percent", "mem-fraction-static": "max-memory-percent",
	"max-tokens": "max-new-tokens", "n-predict": "max-new-tokens", "temp": "temperature", "repeat-penalty": "repetition-penalty",
}

// suggest adds the flag that an unknown one resembles, or that has another name elsewhere.
func suggest(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if ours := flagsOfOthers[unknown.GetSpecifiedName()]; slices.Contains(names, ours) {
		return fmt.Errorf("%w, it is --%s here", err, ours)
	}
	if close := nearest.Close(unknown.GetSpecifiedName(), names); close != "" {
		return fmt.Errorf("%w, did you mean --%s?", err, close)
	}
	return err
}

// noArguments refuses words that are no flag, such as an unquoted prompt or an
// unknown command.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := badUsage("%q is neither a command nor a flag", args[0])
	if close := closeCommand(cmd, args[0]); close != "" {
		err = badUsage("%q is neither a command nor a flag, did you mean %s?", args[0], close)
	}
	if args[0] == "true" || args[0] == "false" {
		err = badUsage("%q is neither a command nor a flag: flags that are true or false take it with =, as in --FLAG=%s", args[0], args[0])
	}
	return usageError{error: err, command: cmd.CommandPath()}
}

// closeCommand is the command below cmd that a word resembles, or the one that begins with it;
// "": there is none.
func closeCommand(cmd *cobra.Command, word string) string {
	var names, longer []string
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		names = append(names, c.Name())
		if word != "" && strings.HasPrefix(c.Name(), word) {
			longer = append(longer, c.Name())
		}
	}
	if len(longer) == 1 {
		return longer[0]
	}
	return nearest.Close(word, names)
}

// oneArgument refuses all but one word that is no flag; what says which.
func oneArgument(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError{error: fmt.Errorf("give %s", what), command: cmd.CommandPath()}
		}
		return nil
	}
}
