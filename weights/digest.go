package weights

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// DigestKind names a hash function. SHA-256 tells whether bytes are those that
// somebody vouches for; the others, which are far faster, whether they arrived.
type DigestKind uint8

const (
	NoDigest DigestKind = iota
	SHA256
	XXH3_64
	XXH3_128
)

// digestNames are the prefixes of the textual form, digestSizes the bytes of a sum.
var (
	digestNames = [...]string{"none", "sha256", "xxh3-64", "xxh3-128"}
	digestSizes = [...]int{0, sha256.Size, 8, 16}
)

// ParseKind reads the name of a kind, one of sha256, xxh3-64 and xxh3-128.
func ParseKind(name string) (DigestKind, error) {
	kind := slices.Index(digestNames[1:], name) + 1
	if kind == 0 {
		return NoDigest, fmt.Errorf("%w: %.40q is none of sha256, xxh3-64 and xxh3-128", ErrDigest, name)
	}
	return DigestKind(kind), nil
}

// String is the kind as ParseDigest spells it.
func (k DigestKind) String() string { return digestNames[k] }

// Digest is the sum of some bytes, most significant byte first. The zero Digest
// is none: nothing is compared with it.
type Digest struct {
	Kind DigestKind
	sum  [sha256.Size]byte
}

// ParseDigest reads "sha256:", "xxh3-64:" or "xxh3-128:" with the sum in
// hexadecimal digits after it, as hashlib's and xxhash's hexdigest give it. An
// empty text is no digest. Errors wrap ErrDigest.
func ParseDigest(text string) (Digest, error) {
	if text == "" {
		return Digest{}, nil
	}
	name, digits, _ := strings.Cut(text, ":")
	kind, err := ParseKind(name)
	sum, odd := hex.DecodeString(digits)
	if err != nil || odd != nil || len(sum) != digestSizes[kind] {
		return Digest{}, fmt.Errorf("%w: %.80q is none of sha256:, xxh3-64: or xxh3-128: with 64, 16 or 32 hexadecimal digits", ErrDigest, text)
	}
	d := Digest{Kind: kind}
	copy(d.sum[:], sum)
	return d, nil
}

// String is the text that ParseDigest reads.
func (d Digest) String() string {
	if d.Kind == NoDigest {
		return ""
	}
	return d.Kind.String() + ":" + d.digits()
}

func (d Digest) digits() string { return hex.EncodeToString(d.sum[:digestSizes[d.Kind]]) }

// hasher is what the hash functions have in common. Write never fails.
type hasher interface {
	Write(p []byte) (int, error)
	Sum(b []byte) []byte
}

// newHasher starts a sum of a kind that is not NoDigest.
func newHasher(kind DigestKind) hasher {
	switch kind {
	case XXH3_64:
		return xxh3.New()
	case XXH3_128:
		return xxh3.New128()
	}
	return sha256.New()
}

// Hash is a digest on its way: of the bytes that Write is given, one after the other, which
// never fails.
type Hash struct {
	kind DigestKind
	hasher
}

// NewHash starts one, of a kind that is not NoDigest.
func NewHash(kind DigestKind) *Hash { return &Hash{kind, newHasher(kind)} }

// Digest is that of what was written so far.
func (h *Hash) Digest() Digest {
	d := Digest{Kind: h.kind}
	copy(d.sum[:], h.Sum(nil))
	return d
}

// Sum computes the digest of some bytes.
func Sum(kind DigestKind, data []byte) Digest {
	if kind == NoDigest {
		return Digest{}
	}
	h := NewHash(kind)
	h.Write(data)
	return h.Digest()
}

// WholeDigest is the digest of several tensors: of the text that has, for each in
// the order of the names' bytes, its digest's hexadecimal digits, two blanks, its
// name and a line feed, which is what sha256sum prints for files of these names.
// It does not depend on the order in which tensors are sent. All sums are of kind.
func WholeDigest(kind DigestKind, sums map[string]Digest) Digest {
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		text.WriteString(sums[name].digits() + "  " + name + "\n")
	}
	return Sum(kind, text.Bytes())
}
