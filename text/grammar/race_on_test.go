//go:build race

package grammar

const raced = true
