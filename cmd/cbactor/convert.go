package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/checkpoint"
)

func (c *cli) convertCommand() *cobra.Command {
	var model, out string
	cmd := &cobra.Command{
		Use:     "convert",
		Short:   "Write a model as a checkpoint folder in bf16",
		Long:    "Write a model as a folder in the layout of the Hugging Face libraries: safetensors in bf16, configuration,\ntokenizer and chat template.",
		Example: "  cbactor convert --model smollm2 --out smollm2-bf16",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			if out == "" {
				return badUsage("there is no folder to write to: give --out")
			}
			return convert(model, out)
		},
	}
	addModel(cmd, &model)
	cmd.Flags().StringVar(&out, "out", "", "folder to write; it must not exist")
	return cmd
}

func convert(name, out string) (err error) {
	model, err := openModel(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	return checkpoint.WriteBF16(out, model)
}
