package engine

import (
	"context"
	"fmt"

	"github.com/cbactor/cbactor/weights"
)

// Checksum is the digest of the weights that serve, with their version: as
// weights.Set.Digest has it, which reads them whole, beside the steps that run. ctx is
// looked at before. An executor of the caller's has none: ErrNoWeights.
func (e *Engine) Checksum(ctx context.Context, kind weights.DigestKind) (version string, digest weights.Digest, err error) {
	if kind == weights.NoDigest || kind > weights.XXH3_128 {
		return "", digest, fmt.Errorf("%w: checksum of kind %d: give one of sha256, xxh3-64, xxh3-128", ErrParams, kind)
	}
	set, err := e.borrow(ctx)
	if err != nil {
		return "", digest, fmt.Errorf("checksum: %w", err)
	}
	digest = set.Digest(kind)
	e.giveBack(set)
	return set.Version, digest, nil
}
