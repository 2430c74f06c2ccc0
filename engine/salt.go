package engine

import (
	"crypto/sha256"
	"encoding/binary"
)

// salt is what separates a request's blocks in the prefix cache: 0 for neither adapter
// nor salt, else the first 64 bits of a hash over both, each behind its length, so that
// one is never taken for the other.
func salt(adapter, tenant string) uint64 {
	if adapter == "" && tenant == "" {
		return 0
	}
	var text []byte
	for _, part := range []string{adapter, tenant} {
		text = binary.LittleEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	sum := sha256.Sum256(text)
	return max(1, binary.LittleEndian.Uint64(sum[:]))
}
