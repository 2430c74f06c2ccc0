package main

import (
	"math"
	"time"

	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/server"
)

// limitFlags bound what clients of HTTP may take.
type limitFlags struct{ server.Limits }

func (f *limitFlags) add(fs *pflag.FlagSet) {
	f.Limits = server.DefaultLimits
	fs.Int64Var(&f.Body, "max-body", f.Body, "bytes of a request")
	fs.IntVar(&f.Calls, "max-streams", f.Calls, "calls that generate at a time, streamed or not; more are refused with 429")
	fs.IntVar(&f.Sequences, "max-sequences", f.Sequences, "sequences of a call, over all its prompts")
	fs.Int64Var(&f.Adapter, "max-adapter", f.Adapter, "bytes of the files of an adapter that is sent")
	fs.IntVar(&f.Connections, "max-connections", f.Connections, "connections at a time, of each address; more wait")
	fs.DurationVar(&f.Header, "header-time", f.Header, "how long the header of a request may take to arrive")
	fs.DurationVar(&f.Arrival, "arrival", f.Arrival, "how long its body may take")
	fs.DurationVar(&f.Patience, "patience", f.Patience, "how long a client may take to read what is written at a time; then its call ends")
}

// maxWait is the most that a limit of time may be.
const maxWait = 24 * time.Hour

func (f *limitFlags) check() error {
	for _, n := range []struct {
		flag       string
		value, top int64
	}{{"max-body", f.Body, math.MaxInt32}, {"max-streams", int64(f.Calls), 1 << 20}, {"max-sequences", int64(f.Sequences), 1 << 20}, {"max-adapter", f.Adapter, math.MaxInt64}, {"max-connections", int64(f.Connections), 1 << 20}} {
		if n.value < 1 || n.value > n.top {
			return badUsage("--%s is %d, must be from 1 to %d", n.flag, n.value, n.top)
		}
	}
	for _, d := range []struct {
		flag  string
		value time.Duration
	}{{"header-time", f.Header}, {"arrival", f.Arrival}, {"patience", f.Patience}} {
		if d.value <= 0 || d.value > maxWait {
			return badUsage("--%s is %s, must be more than 0 and at most %s", d.flag, d.value, maxWait)
		}
	}
	return nil
}
