//go:build !race

package test

// buildFlags build the command like the tests.
var buildFlags []string
