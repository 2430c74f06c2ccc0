package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/cbactor/cbactor/weights"
)

// Checksum is the digest of the weights that serve, with their version: as
// weights.Set.Digest has it, which reads them whole, beside the steps that run, to which it
// gives way. ctx is
// looked at before. An executor of the caller's has none: ErrNoWeights.
func (e *Engine) Checksum(ctx context.Context, kind weights.DigestKind) (version string, digest weights.Digest, err error) {
	if kind == weights.NoDigest || kind > weights.XXH3_128 {
		return "", digest, fmt.Errorf("%w: checksum of kind %d: give one of sha256, xxh3-64, xxh3-128", ErrParams, kind)
	}
	set, err := e.borrow(ctx)
	if err != nil {
		return "", digest, fmt.Errorf("checksum: %w", err)
	}
	digest = e.digestOf(set, kind)
	e.giveBack(set)
	return set.Version, digest, nil
}

// digestOf is weights.Set.Digest that gives way to steps.
func (e *Engine) digestOf(set *weights.Set, kind weights.DigestKind) weights.Digest {
	sums, p := map[string]weights.Digest{}, pace{engine: e}
	for t := range set.All() {
		h := weights.NewHash(kind)
		for data := range slices.Chunk(t.Data, piece) {
			began := time.Now()
			h.Write(data)
			time.Sleep(p.rest(time.Since(began)))
		}
		sums[t.Name] = h.Digest()
	}
	return weights.WholeDigest(kind, sums)
}
