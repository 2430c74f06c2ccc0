package kernels

import "testing"

// Ranges of K depend on N and K alone, cover K in whole steps, and there is one part of many
// rows.
func TestParts(t *testing.T) {
	for _, c := range []struct{ n, k, parts int }{{64, 32, 1}, {4096, 4096, 4}, {128256, 4096, 1}, {64, 1024, 2}, {1024, 11008, 16}} {
		if got := Parts(1, c.n, c.k); got != c.parts {
			t.Errorf("a product of %d by %d has %d parts, want %d", c.n, c.k, got, c.parts)
		}
		if got := rangeOf(c.n, c.k); got%rangeStep != 0 || (c.parts-1)*got >= c.k || c.parts*got < c.k {
			t.Errorf("%d ranges of %d for %d", c.parts, got, c.k)
		}
		if Parts(64, c.n, c.k) != c.parts || Parts(65, c.n, c.k) != 1 {
			t.Errorf("of %d by %d, 64 rows have %d parts and 65 %d", c.n, c.k, Parts(64, c.n, c.k), Parts(65, c.n, c.k))
		}
		if got, want := PartsFloats(70, c.n, c.k), max(70, 64*c.parts)*c.n; got != want {
			t.Errorf("parts of up to 70 rows take %d floats, want %d", got, want)
		}
	}
}
