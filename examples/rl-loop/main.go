package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/cbactor/cbactor/engine"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	o := usual()
	flag.IntVar(&o.steps, "steps", o.steps, "updates of the weights")
	flag.StringVar(&o.letter, "letter", o.letter, "words that begin with it are rewarded")
	flag.Float64Var(&o.rate, "rate", o.rate, "about how far an update moves a weight")
	flag.Uint64Var(&o.seed, "seed", o.seed, "what the stories draw from")
	recompute := flag.Bool("recompute", false, "compute the cache of open stories again after each update")
	path := flag.String("plot", "rl-loop.svg", "file for the plot of reward, staleness and tokens/s")
	flag.Parse()
	if *recompute {
		o.kv = engine.KVRecompute
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var points []point
	deviation := 0.0
	err := loop(ctx, o, func(p point) {
		points, deviation = append(points, p), max(deviation, p.deviation)
		fmt.Printf("%3d: reward %.3f, staleness %.2f, %2d of %d stories of several versions, %5.0f tokens/s\n",
			len(points), p.reward, p.staleness, p.mixed, o.groups*o.stories, p.tokens)
	})
	fmt.Printf("mean squares of states, by the weights that the engine names, are 1 but for %.1g at most\n", deviation)
	return errors.Join(err, writePlot(*path, points))
}
