package main

import (
	"errors"
	"os"
	"path/filepath"

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
			return c.convert(model, out)
		},
	}
	addModel(cmd, &model)
	cmd.Flags().StringVar(&out, "out", "", "folder to write; it must not exist, and its parent must")
	return cmd
}

func (c *cli) convert(name, out string) (err error) {
	if _, err := os.Lstat(out); err == nil {
		return badUsage("--out: %s exists already: remove it or choose another folder", out)
	}
	if _, err := os.Stat(filepath.Dir(out)); err != nil {
		return badFile("--out", err)
	}
	model, err := openModel(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	if err := checkpoint.WriteBF16(out, model); err != nil {
		return err
	}
	c.say("wrote %s: %d tensors in bf16, %s", out, len(model.Config.Tensors()), textSupport(showModel(name, model)))
	return nil
}
