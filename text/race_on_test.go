//go:build race

package text

const raced = true
