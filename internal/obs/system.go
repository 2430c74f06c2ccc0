package obs

import (
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/rs/zerolog"
)

// DeadLetterPause is short: a goroutine of the library sleeps that long after a message to
// an actor that has ended.
const DeadLetterPause = 20 * time.Millisecond

// System makes an actor system that logs to log.
func System(log zerolog.Logger) *actor.ActorSystem {
	return actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return Slog(log) }),
		actor.WithDeadLetterThrottleInterval(DeadLetterPause))
}
