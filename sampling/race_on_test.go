//go:build race

package sampling

const raced = true
