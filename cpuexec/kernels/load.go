package kernels

// LoadKeyBF16 reads K of position at, as StoreBF16 wrote it.
func LoadKeyBF16(kPage []uint16, k []float32, kPitch, at int) {
	for d := range k {
		k[d] = widen(kPage[d*kPitch+at])
	}
}

// LoadValueBF16 reads V of position at, as StoreBF16 wrote it.
func LoadValueBF16(vPage []uint16, v []float32, at int) {
	for d := range v {
		v[d] = widen(vPage[at*len(v)+d])
	}
}

// LoadKeyInt8 reads K of position at, as StoreInt8 wrote it.
func LoadKeyInt8(kPage []byte, kScales, k []float32, kPitch, at int) {
	for d := range k {
		k[d] = float32(int8(kPage[d/4*4*kPitch+4*at+d%4]^0x80)) * kScales[at]
	}
}

// LoadValueInt8 reads V of position at, as StoreInt8 wrote it.
func LoadValueInt8(vPage []byte, vScales, v []float32, at int) {
	for d := range v {
		v[d] = float32(int8(vPage[at/4*4*len(v)+4*d+at%4])) * vScales[at]
	}
}
