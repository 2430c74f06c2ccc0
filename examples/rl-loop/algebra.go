package main

import (
	"math"
	"slices"
)

// softmax makes probabilities of logits, in place.
func softmax(logits []float32) {
	most, sum := slices.Max(logits), 0.0
	for i, z := range logits {
		e := math.Exp(float64(z - most))
		logits[i], sum = float32(e), sum+e
	}
	for i := range logits {
		logits[i] /= float32(sum)
	}
}

func dot(a, b []float32) float32 {
	var s [4]float32 // additions that do not wait for each other
	for ; len(a) >= 4 && len(b) >= 4; a, b = a[4:], b[4:] {
		s[0] += a[0] * b[0]
		s[1] += a[1] * b[1]
		s[2] += a[2] * b[2]
		s[3] += a[3] * b[3]
	}
	for i := range a {
		s[0] += a[i] * b[i]
	}
	return s[0] + s[1] + s[2] + s[3]
}

// norm2 is a vector's Euclidean length, never 0.
func norm2(v []float64) float64 {
	sum := 1e-30
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}

// invert inverts a symmetric positive definite matrix [n][n] in place, by Gauss and
// Jordan's elimination.
func invert(a []float64, n int) {
	for k := range n {
		row := a[k*n:][:n]
		pivot := row[k]
		row[k] = 1
		for j := range row {
			row[j] /= pivot
		}
		for i := range n {
			other := a[i*n:][:n]
			if f := other[k]; i != k {
				other[k] = 0
				for j := range other {
					other[j] -= f * row[j]
				}
			}
		}
	}
}
