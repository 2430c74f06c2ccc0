package remote_test

import (
	"context"
	"fmt"
	"log"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/remote"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/text"
)

// A client asks for text, and has the engine stand still for a moment. The engine would be
// another process: cbactor serve --actors.
func ExampleConnect() {
	address, stop := serveTiny()
	defer stop()

	ctx := context.Background()
	c, err := remote.Connect(ctx, address, remote.Options{})
	if err != nil {
		log.Fatal(err)
	}
	story := "Once upon a time"
	s, err := c.Generate(ctx, texts.Request{Request: engine.Request{MaxNewTokens: 40}, Prompt: texts.Prompt{Text: &story}, Stop: []string{" Lily"}})
	if err != nil {
		log.Fatal(err)
	}
	out := s.Wait(ctx)
	fmt.Printf("%q, found %q\n", out.Text, out.Stopped)

	hold, err := c.Pause(ctx, engine.PauseOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Status().Mode)
	if err := hold.Release(""); err != nil {
		log.Fatal(err)
	}
	if err := c.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// ", there was a little girl named", found " Lily"
	// paused
}

// serveTiny has an engine of the embedded model behind a gateway.
func serveTiny() (address string, stop func()) {
	m, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		log.Fatal(err)
	}
	codec, err := text.Load(m)
	if err != nil {
		log.Fatal(err)
	}
	e, err := engine.Spawn(context.Background(), engine.Config{Checkpoint: m})
	if err != nil {
		log.Fatal(err)
	}
	g, err := gateway.New(e, texts.New(e, codec), gateway.Options{Listen: "127.0.0.1:0"})
	if err != nil {
		log.Fatal(err)
	}
	return g.Addr().String(), func() {
		g.Close()
		if err := e.Close(); err != nil {
			log.Fatal(err)
		}
	}
}
