package replay

import (
	"context"
	"fmt"

	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/internal/replaylog"
	"github.com/cbactor/cbactor/weights"
)

// Source gives the weights that a log names. They are compared with its digest.
type Source func(replaylog.Weights) (*weights.Set, error)

// maxLoaded is how many sets the executor has at a time.
const maxLoaded = 2

// sets are the weights of a log: which of its epochs are the same, and which of them
// the executor has.
type sets struct {
	loader executor.Loader
	source Source
	named  map[uint32]replaylog.Weights // by the log's epoch
	loaded []loadedSet                  // the one used last at the end
	epoch  uint32                       // the executor's, of the last change
}

// loadedSet is a set that the executor has.
type loadedSet struct {
	digest string
	set    weights.Set // with the executor's epoch
}

// Read gives weights as a Source and compares them with the log's digest.
func (s Source) Read(w replaylog.Weights) (*weights.Set, error) {
	want, err := weights.ParseDigest(w.Digest)
	if err != nil {
		return nil, err
	}
	set, err := s(w)
	if err != nil {
		return nil, fmt.Errorf("weights %q: %w", w.Version, err)
	}
	if got := set.Digest(want.Kind); got != want {
		return nil, fmt.Errorf("%w: the weights given as version %q have %s, those of the log %s: give the checkpoint of the run", weights.ErrDigest, w.Version, got, want)
	}
	return set, nil
}

// use makes the weights of one of the log's epochs those of the next batches.
func (s *sets) use(ctx context.Context, epoch uint32) error {
	w := s.named[epoch]
	last := len(s.loaded) - 1
	if s.loaded[last].digest == w.Digest {
		return nil
	}
	next := loadedSet{digest: w.Digest}
	old := -1 // what it takes the place of
	for i := range s.loaded {
		if s.loaded[i].digest == w.Digest {
			next.set, old = s.loaded[i].set, i
		}
	}
	resident := old >= 0
	if !resident {
		if len(s.loaded) == maxLoaded {
			if err := s.drop(0); err != nil {
				return err
			}
		}
		set, err := s.source.Read(w)
		if err != nil {
			return err
		}
		next.set = *set
	}
	s.epoch++
	next.set.Epoch = s.epoch
	if err := s.loader.Load(ctx, &next.set); err != nil {
		return err
	}
	s.loaded = append(s.loaded, next)
	if resident { // it is there under its new epoch: the old one is not needed
		return s.drop(old)
	}
	return nil
}

func (s *sets) drop(i int) error {
	epoch := s.loaded[i].set.Epoch
	s.loaded = append(s.loaded[:i:i], s.loaded[i+1:]...)
	return s.loader.Drop(epoch)
}
