package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/text"
)

// engineHeading is that of the flags of an engine in help.
const engineHeading = "The engine, see docs/configuration.md"

// checkConnection refuses what goes with no engine elsewhere: the flags of one that is
// started here. The seed is the requests'.
func (f *generateFlags) checkConnection(fs *pflag.FlagSet) error {
	var own []string
	fs.Visit(func(flag *pflag.Flag) {
		ofEngine := slices.Contains(flag.Annotations[groupKey], engineHeading) && flag.Name != "seed"
		if ofEngine || flag.Name == "model" {
			own = append(own, "--"+flag.Name)
		}
	})
	if len(own) > 0 {
		return badUsage("%s: with --connect the engine is one that runs already, leave that out", strings.Join(own, ", "))
	}
	if err := f.connect.secure.check(); err != nil {
		return err
	}
	return f.engine.config.Apply(f.engine.given)
}

// connectGenerator is an engine elsewhere as a generator. Seeds are drawn here, as an engine
// of this process with the same --seed would draw them.
func (c *cli) connectGenerator(ctx context.Context, f *generateFlags) (g *generator, err error) {
	client, err := c.connect(ctx, &f.connect)
	if err != nil {
		return nil, ended(ctx, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, client.Close())
		}
	}()
	var recommended checkpoint.Generation
	var noText error
	model := client.Model()
	if len(model.Generation) > 0 {
		if err := json.Unmarshal(model.Generation, &recommended); err != nil {
			return nil, fmt.Errorf("--connect %s: what the model recommends: %w", f.connect.address, err)
		}
	}
	if !model.Text {
		noText = text.ErrNoTokenizer
	}
	if g, err = newGenerator(client, client, noText, recommended); err != nil {
		return nil, err
	}
	g.elsewhere = true
	if g.seed = f.engine.config.Seed; g.seed == 0 {
		g.seed = rand.Uint64()
	}
	return g, nil
}

// seedOf draws the seed of a request that has none.
func (g *generator) seedOf(id string) *uint64 {
	if g.seed == 0 {
		return nil
	}
	seed := engine.SeedOf(g.seed, id)
	return &seed
}
