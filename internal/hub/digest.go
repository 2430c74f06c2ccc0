package hub

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"github.com/cbactor/cbactor/internal/hubcache"
)

// Kinds of digests, which a digest begins with.
const (
	shaDigest = "sha256:"
	gitDigest = "git:" // SHA-1 of what git calls a blob: "blob SIZE\0" and the bytes
)

// hasher computes the digest of a file that is listed.
type hasher struct {
	hash.Hash
	kind string
}

func newHasher(f hubcache.File) hasher {
	if strings.HasPrefix(f.Digest, shaDigest) {
		return hasher{sha256.New(), shaDigest}
	}
	h := hasher{sha1.New(), gitDigest}
	h.Write(fmt.Appendf(nil, "blob %d\x00", f.Size)) // a hash gives no errors
	return h
}

// digest is the digest of what was written.
func (h hasher) digest() string { return h.kind + hex.EncodeToString(h.Sum(nil)) }
