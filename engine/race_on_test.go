//go:build race

package engine

// underRace tells that the race detector is on: it keeps a shadow of the memory that was
// ever used, which the system does not get back.
const underRace = true
