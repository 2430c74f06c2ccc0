//go:build race

package gateway_test

// underRace tells that the race detector is on, with which everything takes ten times as long.
const underRace = true
