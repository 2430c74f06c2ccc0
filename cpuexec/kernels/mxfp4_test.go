package kernels

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cbactor/cbactor/model"
)

// inMXFP4 is a panel of random blocks of MXFP4, and what they are in float32. One scale in so
// many is among the least or the largest.
func inMXFP4(r *rand.Rand, blocks, odd int) (w []byte, widened []float32) {
	w, widened = make([]byte, MXFP4.PanelBytes(blocks*Block)), make([]float32, blocks*Block*Panel)
	for b := range blocks {
		for c := range Panel {
			var stored [mxfp4Stored]byte
			for i := range stored {
				stored[i] = byte(r.Uint32())
			}
			stored[0] = byte(117 + r.IntN(20))
			if r.IntN(odd) == 0 {
				stored[0] = []byte{0, 1, 2, 254, 255}[r.IntN(5)]
			}
			PackMXFP4(w, stored[:], c, b)
			var x [Block]float32
			model.Dequantize(x[:], stored[:], model.MXFP4)
			for i, v := range x {
				widened[(b*Block+i)*Panel+c] = v
			}
		}
	}
	return w, widened
}

// TestGemmMXFP4 compares the product of blocks with Gemm of the float32 that they are: any
// number of rows, strides that leave gaps, which stay as they are.
func TestGemmMXFP4(t *testing.T) {
	for _, s := range All() {
		r := rand.New(rand.NewPCG(4, 4))
		for _, blocks := range []int{1, 2, 18} {
			w, widened := inMXFP4(r, blocks, 20)
			k := blocks * Block
			for _, rows := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 23, 64} {
				xStride, outStride := k+3, Panel+5
				x := unusual(r, random(r, (rows-1)*xStride+k))
				got, want := make([]float32, rows*outStride), make([]float32, rows*outStride)
				gemmGo(widened, x, want, k, rows, xStride, outStride)
				s.GemmMXFP4(w, x, got, k, rows, xStride, outStride)
				sameNumbers(t, fmt.Sprintf("%s, %d blocks, %d rows", s.Name, blocks, rows), got, want)
			}
		}
	}
}
