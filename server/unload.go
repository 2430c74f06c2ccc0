package server

import (
	"context"
	"errors"
	"time"

	"github.com/cbactor/cbactor/engine"
)

// unloadPatience is how long an answer to a trainer of another engine waits for an adapter to
// leave its place.
const unloadPatience = time.Second

// unloading is what becomes of an adapter that is to be unloaded.
type unloading string

const (
	unloadAbsent  unloading = "is not there"
	unloadLeaving unloading = "leaves its place when the requests that have it have ended"
	unloadGone    unloading = "is unloaded"
)

// unloadSoon unloads an adapter for a trainer of another engine, whose unloading waits for
// nothing. It goes on behind the answer where that would take long: requests that have the
// adapter may, or stand still in a pause that the trainer itself will end. One that is not there
// is no error, as those who clean up do not know.
func (m *Model) unloadSoon(ctx context.Context, name string) (unloading, error) {
	ctx, cancel := context.WithTimeout(ctx, unloadPatience)
	defer cancel()
	switch err := m.Engine.UnloadAdapter(ctx, name); {
	case errors.Is(err, engine.ErrUnknownAdapter):
		return unloadAbsent, nil
	case errors.Is(err, context.DeadlineExceeded):
		return unloadLeaving, nil
	case err != nil:
		return "", err
	}
	return unloadGone, nil
}
