//go:build race

package server

const raced = true
