package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/text"
)

// maxStdin bounds a prompt on standard input, in bytes.
const maxStdin = 16 << 20

// stories are what the embedded model writes when no prompt is given.
var stories = []string{
	"Once upon a time, there was a little girl named Lily",
	"One day, a small dog found a big red ball",
	"Tom and his mom went to the park",
	"There was a bird who could not fly",
}

// promptFlag is a flag that adds a prompt to a list. Several share one list, so
// that prompts keep the order of the command line.
type promptFlag struct {
	list  *[]texts.Prompt
	parse func(string) (texts.Prompt, error)
	kind  string
}

var _ pflag.Value = promptFlag{}

// Set implements pflag.Value.
func (f promptFlag) Set(s string) error {
	p, err := f.parse(s)
	if err != nil {
		return err
	}
	*f.list = append(*f.list, p)
	return nil
}

// String implements pflag.Value; there is no default to show.
func (promptFlag) String() string { return "" }

// Type implements pflag.Value.
func (f promptFlag) Type() string { return f.kind }

func addPrompts(fs *pflag.FlagSet, list *[]texts.Prompt) {
	fs.Var(promptFlag{list, parseText, "text"}, "prompt", "text to go on with (repeatable)")
	fs.Var(promptFlag{list, parseIDs, "ids"}, "prompt-ids", "token ids to go on with, separated by commas (repeatable)")
	fs.Var(promptFlag{list, parseChat, "text"}, "chat", "message to answer, put into the model's chat template (repeatable)")
}

func parseText(s string) (texts.Prompt, error) {
	return texts.Prompt{Text: &s}, requests.CheckText(s)
}

func parseChat(s string) (texts.Prompt, error) {
	return texts.Prompt{Messages: []text.Message{{Role: "user", Content: s}}}, requests.CheckText(s)
}

func parseIDs(s string) (texts.Prompt, error) {
	if s == "" {
		return texts.Prompt{}, errors.New("the prompt is empty: give token ids, separated by commas")
	}
	ids, err := requests.ParseIDs(s)
	return texts.Prompt{IDs: ids}, err
}

// prompts are those of the flags, else standard input as a whole, else, where
// that is a terminal, stories, if the model tells some.
func (c *cli) prompts(flags []texts.Prompt, tells bool) ([]texts.Prompt, error) {
	if len(flags) > 0 {
		return flags, nil
	}
	if isTerminal(c.stdin) {
		return builtinPrompts(tells)
	}
	input, err := io.ReadAll(io.LimitReader(c.stdin, maxStdin+1))
	if err != nil {
		return nil, fmt.Errorf("read the prompt from standard input: %w", err)
	}
	if len(input) > maxStdin {
		return nil, fmt.Errorf("standard input has more than %d MiB, which is no prompt: give requests as a file to --requests", maxStdin>>20)
	}
	prompt := strings.TrimPrefix(string(input), "\ufeff") // a byte order mark
	prompt = strings.TrimSuffix(strings.TrimSuffix(prompt, "\n"), "\r")
	if prompt == "" {
		return nil, badUsage("the prompt on standard input is empty: write some text to it, or give --prompt")
	}
	if err := requests.CheckText(prompt); err != nil {
		return nil, badUsage("standard input: %w", err)
	}
	return []texts.Prompt{{Text: &prompt}}, nil
}

func builtinPrompts(tells bool) ([]texts.Prompt, error) {
	if !tells {
		return nil, badUsage("there is no prompt: give --prompt, --chat, --prompt-ids, --requests, or text on standard input")
	}
	list := make([]texts.Prompt, len(stories))
	for i := range stories {
		list[i].Text = &stories[i]
	}
	return list, nil
}
