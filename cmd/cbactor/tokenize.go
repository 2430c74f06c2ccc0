package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/text"
)

const tokenizeHelp = `Show the token ids of a text, as --prompt-ids takes them: of TEXT, else of standard input, whose last line end
does not count. They are those that generate makes of --prompt, with what the tokenizer puts around a text.`

func (c *cli) tokenizeCommand() *cobra.Command {
	var model string
	var pieces, plain, asJSON bool
	cmd := &cobra.Command{
		Use: "tokenize [TEXT]", Short: "Show the token ids of a text", Long: tokenizeHelp,
		Example: "  cbactor tokenize --model smollm2 --pieces \"Hello, world\"",
		Args:    atMostOne("one text: quote it"),
		RunE: func(_ *cobra.Command, args []string) error {
			return c.tokenize(model, args, plain, pieces, asJSON)
		},
	}
	fs := cmd.Flags()
	addModel(cmd, &model)
	fs.BoolVar(&pieces, "pieces", false, "a line for each token: its id, where it stands in the text in bytes, and its text")
	fs.BoolVar(&plain, "no-special", false, "leave out what the tokenizer puts around a text, such as a start token")
	fs.BoolVar(&asJSON, "json", false, "write them as JSON, with pieces")
	return cmd
}

// atMostOne refuses more than one word that is no flag; what says which.
func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usageError{error: fmt.Errorf("give %s", what), command: cmd.CommandPath()}
		}
		return nil
	}
}

// loadCodec opens a model for its tokenizer alone.
func loadCodec(name string) (_ *text.Codec, err error) {
	model, err := openModel(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	codec, err := text.Load(model)
	if errors.Is(err, text.ErrNoTokenizer) {
		return nil, badUsage("model %s has no tokenizer", name)
	}
	return codec, err
}

func (c *cli) tokenize(model string, args []string, plain, pieces, asJSON bool) error {
	input, err := c.inputText(args)
	if err != nil {
		return err
	}
	codec, err := loadCodec(model)
	if err != nil {
		return err
	}
	raw := codec.EncodeRaw(input)
	ids := raw
	if !plain {
		ids = codec.Encode(input)
	}
	if raw == nil || ids == nil {
		return text.ErrPattern
	}
	switch {
	case asJSON:
		return c.printJSON(struct {
			IDs    []int32 `json:"ids"`
			Pieces []piece `json:"pieces"`
		}{ids, piecesOf(codec, input, ids, raw)})
	case pieces:
		rows := [][]string{}
		for _, p := range piecesOf(codec, input, ids, raw) {
			rows = append(rows, []string{fmt.Sprint(p.ID), p.place(), strconv.Quote(p.Text)})
		}
		return c.print(columns(fmt.Sprintf("%d tokens", len(rows)), rows))
	}
	return c.print(new(idList).push(ids) + "\n")
}

// inputText is a text of the command line, else of standard input.
func (c *cli) inputText(args []string) (string, error) {
	if len(args) == 0 {
		return c.readText("text", "give a text")
	}
	if err := requests.CheckText(args[0]); err != nil {
		return "", badUsage("%w", err)
	}
	return args[0], nil
}
