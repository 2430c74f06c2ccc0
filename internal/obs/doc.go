// Package obs is how the engine shows what it does: zerolog, a bridge for the actor
// library's slog lines, and the actor systems that write them. Ownership and concurrency: loggers are values and
// safe from any goroutine.
package obs
