package convert

import (
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/messages"
)

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// refused is the error of a field that asks for what cannot be.
func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %s", engine.ErrParams, fmt.Sprintf(format, args...))
}

// small is a number of the engine's in the 32 bits of a message.
func small(name string, n int) (int32, error) {
	if n < math.MinInt32 || n > math.MaxInt32 {
		return 0, refused("%s is %d, must fit 32 bits", name, n)
	}
	return int32(n), nil
}

// printed refuses texts that no message can have.
func printed(name, s string) error {
	if !utf8.ValidString(s) {
		return refused("%s is %.40q, must be UTF-8", name, s)
	}
	return nil
}

// nanos is a moment in Unix time; 0: it did not happen.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func moment(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

// KV is a policy of the cache.
func KV(p engine.KVPolicy) messages.KV { return messages.KV(p) }

// KVOf reads it.
func KVOf(m messages.KV) (engine.KVPolicy, error) {
	if m < messages.KV_KV_AS_UPDATE || m > messages.KV_KV_ABORT {
		return 0, refused("kv is %d, must be from %d to %d", m, messages.KV_KV_AS_UPDATE, messages.KV_KV_ABORT)
	}
	return engine.KVPolicy(m), nil
}
