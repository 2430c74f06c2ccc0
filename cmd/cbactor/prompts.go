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
	prompt, err := c.readText("prompt", "give --prompt")
	if err != nil {
		return nil, err
	}
	return []texts.Prompt{{Text: &prompt}}, nil
}

// readText reads standard input as a text, without a byte order mark and a line end at
// its end. what names it, and instead says what else could be given.
func (c *cli) readText(what, instead string) (string, error) {
	input, err := io.ReadAll(io.LimitReader(c.stdin, maxStdin+1))
	if err != nil {
		return "", fmt.Errorf("read the %s from standard input: %w", what, err)
	}
	if len(input) > maxStdin {
		return "", fmt.Errorf("standard input has more than %d MiB, which is too much for a %s: give less, or requests as a file to generate's --requests", maxStdin>>20, what)
	}
	s := strings.TrimPrefix(string(input), "\ufeff") // a byte order mark
	s = strings.TrimSuffix(strings.TrimSuffix(s, "\n"), "\r")
	if s == "" {
		return "", badUsage("the %s on standard input is empty: write some text to it, or %s", what, instead)
	}
	if err := requests.CheckText(s); err != nil {
		return "", badUsage("standard input: %w", err)
	}
	return s, nil
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
