package text

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// charsMap is the normalizer of a SentencePiece model: texts and what replaces them.
// The texts are a double array in the format of Darts (Yata 2007, s-yata/darts-clone,
// include/darts.h), the replacements end with a zero byte each.
type charsMap struct {
	units        []uint32
	replacements []byte
}

// readPrecompiled reads such a normalizer.
func (d *definition) readPrecompiled(raw json.RawMessage) error {
	var p struct {
		Type     string `json:"type"`
		CharsMap []byte `json:"precompiled_charsmap"` // base64
	}
	if err := decodeStrict("normalizer", raw, &p); err != nil {
		return err
	}
	if len(p.CharsMap) == 0 { // SentencePiece's identity
		return nil
	}
	m, err := newCharsMap(p.CharsMap)
	if err != nil {
		return err
	}
	d.normal = append(d.normal, plain(m.normalize))
	return d.normalGrowth.by("normalizer", m.longest())
}

// newCharsMap reads the size of the array in bytes, the array, the replacements
// (google/sentencepiece, src/normalizer.cc, DecodePrecompiledCharsMap).
func newCharsMap(data []byte) (*charsMap, error) {
	if len(data) < 4 {
		return nil, fmt.Errorf("%w: precompiled_charsmap of %d bytes", ErrMalformed, len(data))
	}
	size, rest := binary.LittleEndian.Uint32(data), data[4:]
	if size%4 != 0 || uint64(size) > uint64(len(rest)) {
		return nil, fmt.Errorf("%w: precompiled_charsmap of %d bytes has an array of %d", ErrMalformed, len(data), size)
	}
	m := &charsMap{units: make([]uint32, size/4), replacements: rest[size:]}
	for i := range m.units {
		m.units[i] = binary.LittleEndian.Uint32(rest[4*i:])
	}
	return m, nil
}

// longest is how many bytes a replacement has at most.
func (m *charsMap) longest() int {
	most := 0
	for replaced := range bytes.SplitSeq(m.replacements, []byte{0}) {
		most = max(most, len(replaced))
	}
	return most
}

// normalize replaces what the map has. As in the reference, a cluster of characters
// of less than 6 bytes is replaced by what the shortest text that it starts with
// becomes, and other ones character by character.
func (m *charsMap) normalize(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for clusters := graphemes.FromString(s); clusters.Next(); {
		cluster := clusters.Value()
		if len(cluster) < 6 {
			if replaced, ok := m.replacement(cluster); ok {
				b.Write(replaced)
				continue
			}
		}
		for i, r := range cluster {
			char := cluster[i : i+utf8.RuneLen(r)]
			if replaced, ok := m.replacement(char); ok {
				b.Write(replaced)
			} else {
				b.WriteString(char)
			}
		}
	}
	return b.String()
}

// replacement is what the shortest text in the map that s starts with becomes.
func (m *charsMap) replacement(s string) (replaced []byte, ok bool) {
	at := uint32(0)
	unit, ok := m.unit(at)
	if !ok {
		return nil, false
	}
	at ^= offsetOf(unit)
	for i := range len(s) {
		at ^= uint32(s[i])
		if unit, ok = m.unit(at); !ok || unit&(1<<31|0xFF) != uint32(s[i]) {
			return nil, false
		}
		at ^= offsetOf(unit)
		if unit>>8&1 == 0 {
			continue
		}
		leaf, ok := m.unit(at)
		start := leaf &^ (1 << 31)
		if !ok || int(start) > len(m.replacements) {
			return nil, false
		}
		replaced = m.replacements[start:]
		if end := bytes.IndexByte(replaced, 0); end >= 0 {
			replaced = replaced[:end]
		}
		return replaced, true
	}
	return nil, false
}

func (m *charsMap) unit(at uint32) (uint32, bool) {
	if uint64(at) >= uint64(len(m.units)) {
		return 0, false
	}
	return m.units[at], true
}

// offsetOf is how far from a unit its children lie, as an exclusive or.
func offsetOf(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
