//go:build race

package test

// underRace tells that the race detector is on.
const underRace = true
