package checkpoint

import (
	"encoding/binary"
	"math"
)

// readInterleaved undoes the row order of llama.cpp's converter, which stores the
// two halves of each head's rows alternately (its rotary embedding turns
// neighbours, Hugging Face's turns rows half a head apart).
func (t *stored) readInterleaved(dst []byte, heads int) error {
	rows := t.Shape[0] / heads
	rowBytes := len(dst) / t.Shape[0]
	half := rows / 2
	head := make([]byte, rows*rowBytes)
	for h := range heads {
		at := h * len(head)
		if _, err := t.file.ReadAt(head, t.offset+int64(at)); err != nil {
			return err
		}
		for r := range rows {
			from := (r%half*2 + r/half) * rowBytes
			copy(dst[at+r*rowBytes:], head[from:from+rowBytes])
		}
	}
	return nil
}

// readLowered takes away the 1 that the converter adds to Gemma's norms.
func (t *stored) readLowered(dst []byte) error {
	if err := t.readPlain(dst); err != nil {
		return err
	}
	for ; len(dst) >= 4; dst = dst[4:] {
		x := math.Float32frombits(binary.LittleEndian.Uint32(dst))
		binary.LittleEndian.PutUint32(dst, math.Float32bits(x-1))
	}
	return nil
}
