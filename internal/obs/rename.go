package obs

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/rs/zerolog"
)

// renaming turns attributes called like zerolog's own message field into the name
// of their value's type: protoactor logs an actor's message as "message", a JSON line
// must not have the same key twice, and a prompt is nobody's business. It also lowers
// the levels that Slog says.
type renaming struct{ slog.Handler }

func rename(a slog.Attr) slog.Attr {
	if a.Key == zerolog.MessageFieldName {
		return slog.String("actor_message", fmt.Sprintf("%T", a.Value.Any()))
	}
	return a
}

func lowered(l slog.Level) slog.Level {
	if l <= slog.LevelInfo {
		return l - (slog.LevelInfo - slog.LevelDebug)
	}
	return l
}

// Enabled implements slog.Handler.
func (h renaming) Enabled(ctx context.Context, l slog.Level) bool {
	return h.Handler.Enabled(ctx, lowered(l))
}

// Handle implements slog.Handler.
func (h renaming) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, lowered(r.Level), r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(rename(a))
		return true
	})
	return h.Handler.Handle(ctx, out)
}

// WithAttrs implements slog.Handler.
func (h renaming) WithAttrs(attrs []slog.Attr) slog.Handler {
	renamed := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		renamed[i] = rename(a)
	}
	return renaming{h.Handler.WithAttrs(renamed)}
}

// WithGroup implements slog.Handler.
func (h renaming) WithGroup(name string) slog.Handler { return renaming{h.Handler.WithGroup(name)} }
