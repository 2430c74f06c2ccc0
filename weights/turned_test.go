package weights

import (
	"encoding/binary"
	"testing"

	"github.com/cbactor/cbactor/model"
)

// A turned tensor of two matrices of 3 by 4 has 8 rows of 3.
func TestTurnedTensor(t *testing.T) {
	var data []byte
	for i := range 2 * 3 * 4 {
		data = binary.LittleEndian.AppendUint16(data, model.ToF16(float32(i)))
	}
	turned := Tensor{Tensor: model.Tensor{Name: "x", DType: model.F16, Shape: []int{2, 3, 4}}, Data: data, Turned: true}
	for row := range 8 {
		for from := range 3 {
			got := make([]float32, 3-from)
			turned.Part(got, row, from)
			for i, x := range got {
				if want := float32(row/4*12 + (from+i)*4 + row%4); x != want {
					t.Errorf("row %d, number %d is %g, want %g", row, from+i, x, want)
				}
			}
		}
	}
}
