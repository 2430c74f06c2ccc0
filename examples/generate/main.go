// Command generate writes a story with the embedded model, token by token.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/text"
)

func main() {
	if err := generate(context.Background(), "Once upon a time"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func generate(ctx context.Context, prompt string) (err error) {
	model, err := checkpoint.Open(checkpoint.Embedded) // or a folder, or a .gguf
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, model.Close()) }()
	codec, err := text.Load(model)
	if err != nil {
		return err
	}
	ids := codec.Encode(prompt)
	if ids == nil {
		return text.ErrPattern
	}
	e, err := engine.Spawn(ctx, engine.Config{Checkpoint: model})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()

	stream, err := e.AddRequest(ctx, engine.Request{PromptIDs: ids, MaxNewTokens: 60})
	if err != nil {
		return err
	}
	fmt.Print(prompt)
	session := text.NewSession(codec)
	for {
		chunk, err := stream.Recv(ctx)
		if err != nil {
			return err
		}
		fmt.Print(session.Push(chunk.TokenIDs))
		if chunk.Final != nil {
			fmt.Printf("%s\n(%s)\n", session.Finish(), chunk.Final.FinishReason)
			return chunk.Final.Err
		}
	}
}
