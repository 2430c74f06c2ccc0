// Package obs is how the engine shows what it does: zerolog, and a bridge for the
// actor library's slog lines. Ownership and concurrency: loggers are values and
// safe from any goroutine.
package obs
