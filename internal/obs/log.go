package obs

import (
	"io"
	"log/slog"
	"time"

	"github.com/rs/zerolog"
)

// New makes a logger that writes to w: a line a person can read when console is
// set, else JSON. Verbose 0 shows warnings and errors, 1 also what happens, 2 also
// what the actor library says happens.
func New(w io.Writer, verbose int, console bool) zerolog.Logger {
	level := zerolog.WarnLevel
	switch {
	case verbose >= 2:
		level = zerolog.DebugLevel
	case verbose == 1:
		level = zerolog.InfoLevel
	}
	if console {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(w).Level(level).With().Timestamp().Logger()
}

// Slog bridges what the actor library logs to l, a level lower up to Info: what it
// tells of itself is detail here.
func Slog(l zerolog.Logger) *slog.Logger {
	return slog.New(renaming{zerolog.NewSlogHandler(l)})
}
