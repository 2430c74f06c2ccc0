package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
	"github.com/cbactor/cbactor/text"
)

const detokenizeHelp = `Show the text of token ids, given as words or on standard input, separated by commas or spaces, also as a JSON list.
A line end follows it.`

func (c *cli) detokenizeCommand() *cobra.Command {
	var model string
	var skip, asJSON bool
	cmd := &cobra.Command{
		Use: "detokenize [ID...]", Short: "Show the text of token ids", Long: detokenizeHelp,
		Example: "  cbactor detokenize --model smollm2 19556,28,905",
		RunE: func(_ *cobra.Command, args []string) error {
			return c.detokenize(model, args, skip, asJSON)
		},
	}
	fs := cmd.Flags()
	addModel(cmd, &model)
	fs.BoolVar(&skip, "skip-special", false, "leave out special tokens and those that end a text, as generate does")
	fs.BoolVar(&asJSON, "json", false, "write it as JSON")
	return cmd
}

func (c *cli) detokenize(model string, args []string, skip, asJSON bool) error {
	ids, err := c.inputIDs(args)
	if err != nil {
		return err
	}
	codec, err := loadCodec(model)
	if err != nil {
		return err
	}
	if err := knownIDs(codec, ids); err != nil {
		return err
	}
	out := codec.DecodeAll(ids)
	if skip {
		out = codec.Decode(ids)
	}
	if asJSON {
		return c.printJSON(struct {
			Text string `json:"text"`
		}{out})
	}
	return c.printText(out + "\n")
}

// inputIDs are token ids of the command line, else of standard input.
func (c *cli) inputIDs(args []string) ([]int32, error) {
	input := strings.Join(args, " ")
	if len(args) == 0 {
		var err error
		if input, err = c.readText("token ids", "give token ids"); err != nil {
			return nil, err
		}
	}
	input = strings.TrimSpace(input)
	if strings.HasPrefix(input, "[") && strings.HasSuffix(input, "]") {
		input = input[1 : len(input)-1]
	}
	between := func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' || r == '\r' }
	ids, err := requests.ParseIDs(strings.Join(strings.FieldsFunc(input, between), ","))
	if err != nil {
		return nil, badUsage("%w", err)
	}
	return ids, nil
}

// knownIDs refuses ids that the vocabulary does not have.
func knownIDs(codec *text.Codec, ids []int32) error {
	for i, id := range ids {
		if id < 0 || int(id) >= codec.VocabSize() {
			return badUsage("id %d at position %d is outside of the vocabulary of %d", id, i, codec.VocabSize())
		}
	}
	return nil
}

// printText writes a text that is not our own to standard output, without control
// characters where that is a terminal.
func (c *cli) printText(s string) error {
	if isTerminal(c.stdout) {
		s = show.Printable(s)
	}
	return c.print(s)
}
