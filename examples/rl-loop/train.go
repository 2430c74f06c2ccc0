package main

import (
	"context"
	"fmt"
	"math"

	"github.com/cbactor/cbactor/engine"
)

const (
	maxRatio = 2   // what a token that older weights sampled counts at most
	momentum = 0.8 // share of a step's direction that is the one's before
	least    = 0.1 // how far weights stay from zero, which would hide the state behind them
)

// trainer improves the policy.
type trainer struct {
	options
	engine    *engine.Engine
	policy    *policy
	made      map[string]int // place of a version's weight in policy.norms
	direction []float64
}

// point is what a step has shown.
type point struct {
	reward    float64 // mean of its stories
	staleness float64 // mean number of steps since a token's weights were the newest
	deviation float64 // furthest of a state's mean square from 1
	mixed     int     // stories that weights of several versions sampled
	tokens    float64 // drawn per second since the step before
}

func newTrainer(o options, e *engine.Engine, p *policy) *trainer {
	return &trainer{options: o, engine: e, policy: p,
		made: map[string]int{engine.FirstVersion: 0}, direction: make([]float64, p.hidden)}
}

// step learns from stories and lets what comes out generate.
func (t *trainer) step(ctx context.Context, stories []*story) (p point, err error) {
	gradient, tokens := make([]float64, t.policy.hidden), 0.0
	for _, s := range stories {
		p.reward += s.reward / float64(len(stories))
		if len(s.WeightVersions) > 1 {
			p.mixed++
		}
		for _, span := range s.WeightVersions {
			step := t.made[span.Version]
			for i := span.Start; i < span.End; i++ {
				p.deviation = max(p.deviation, t.learn(gradient, s, i, step))
			}
			p.staleness += float64((span.End - span.Start) * (len(t.policy.norms) - 1 - step))
		}
		tokens += float64(len(s.TokenIDs))
	}
	p.staleness /= tokens
	return p, t.update(ctx, t.move(gradient))
}

// learn adds to the gradient of the reward what token i of a story tells, which the
// weights of a step sampled, and gives how far its state is from what they make.
func (t *trainer) learn(gradient []float64, s *story, i, step int) (deviation float64) {
	x, drawn := t.policy.state(s.logits[i], t.policy.norms[step]), s.Logprobs[i]
	g, logprob := t.policy.gradient(x, drawn.ID, s.logits[i])
	weight := s.surplus * min(maxRatio, math.Exp(logprob-float64(drawn.Sampled)))
	for j := range gradient {
		gradient[j] += weight * float64(g[j])
	}
	return math.Abs(meanSquare(x) - 1)
}

// move goes a step of always the same length up the gradient, with momentum. No weight
// changes its sign.
func (t *trainer) move(gradient []float64) []float32 {
	length := norm2(gradient)
	for i, g := range gradient {
		t.direction[i] = momentum*t.direction[i] + (1-momentum)*g/length
	}
	scale := t.rate * math.Sqrt(float64(len(gradient))) / norm2(t.direction)
	to := make([]float32, len(gradient))
	for i, w := range t.policy.newest() {
		sign := math.Copysign(1, float64(w))
		to[i] = float32(sign * max(least, sign*(float64(w)+scale*t.direction[i])))
	}
	return to
}

// update makes a weight of the norm the newest, here and in the engine.
func (t *trainer) update(ctx context.Context, norm []float32) error {
	version := fmt.Sprintf("step-%d", len(t.policy.norms))
	if err := send(ctx, t.engine, version, norm, t.kv); err != nil {
		return err
	}
	t.made[version] = len(t.policy.norms)
	t.policy.norms = append(t.policy.norms, norm)
	return nil
}
