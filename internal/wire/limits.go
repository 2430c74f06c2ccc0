package wire

import (
	"cmp"
	"time"
)

// Limits bound what a connection may take. What is zero is as DefaultLimits has it.
type Limits struct {
	Message     int // bytes of a message
	Queue       int // bytes that may wait to be written
	Unhandled   int // bytes that were read and that the actor has not handled
	Connections int // of clients, at a time, of a server
}

// DefaultLimits have room for a chunk of weights of 1 MiB, sixteen times.
var DefaultLimits = Limits{Message: 4 << 20, Queue: 16 << 20, Unhandled: 16 << 20, Connections: 256}

func (l Limits) filled() Limits {
	return Limits{
		Message:     cmp.Or(l.Message, DefaultLimits.Message),
		Queue:       cmp.Or(l.Queue, DefaultLimits.Queue),
		Unhandled:   cmp.Or(l.Unhandled, DefaultLimits.Unhandled),
		Connections: cmp.Or(l.Connections, DefaultLimits.Connections),
	}
}

const (
	maxHeader   = 8 << 10  // of a call of gRPC
	frameMargin = 64 << 10 // of a frame beyond the largest message: its envelope

	greetingTime = 10 * time.Second // a connection has to say who it is in this time
	closingTime  = time.Second      // what waits to be written at the end has this time
	probeAfter   = 10 * time.Second // of silence
	probeTime    = 5 * time.Second  // in which a probe must be answered
	probeFloor   = 5 * time.Second  // a peer must not probe more often
)
