package executor

import (
	"fmt"

	"github.com/cbactor/cbactor/model"
)

// EchoAdapter is by how much an adapter changes an Echo: EchoRef with that added to its
// epoch is the truth for a request with the adapter. It is 0 for none.
func EchoAdapter(name string) uint32 {
	if name == "" {
		return 0
	}
	var h uint32
	for _, b := range []byte(name) {
		h = h*31 + uint32(b)
	}
	return 1 + h%10007
}

// echoRank is the largest rank of an Echo's adapters: it does not look at them.
func echoRank(adapters int) int {
	if adapters == 0 {
		return 0
	}
	return 1 << 10
}

// LoadAdapter implements Adapters. An Echo has no model: only the name counts.
func (e *Echo) LoadAdapter(name string, a *model.Adapter) error {
	if err := e.alive(); err != nil {
		return err
	}
	if a == nil || len(a.Parts) == 0 {
		return fmt.Errorf("%w: it adds to no module", model.ErrAdapter)
	}
	return e.check.LoadAdapter(name)
}

// UnloadAdapter implements Adapters.
func (e *Echo) UnloadAdapter(name string) error { return e.check.UnloadAdapter(name) }
