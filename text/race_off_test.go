//go:build !race

package text

const raced = false
