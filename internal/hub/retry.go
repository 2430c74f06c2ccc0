package hub

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	maxTries  = 6
	firstWait = 500 * time.Millisecond // doubled with each try
	maxWait   = 5 * time.Minute        // that a server may ask for
)

// again does something until it is done, until its error is one that stays, or until it
// was tried maxTries times without getting any further. do says whether it got further.
func (c *Client) again(ctx context.Context, do func() (further bool, err error)) error {
	wait := c.firstWait
	for try := 1; ; try++ {
		further, err := do()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var e *passingError
		if !errors.As(err, &e) {
			return err
		}
		if further {
			try, wait = 1, c.firstWait
		}
		if try == maxTries {
			return fmt.Errorf("%w: tried %d times: %w", ErrUnavailable, try, err)
		}
		pause := max(e.after, wait/2+rand.N(wait/2+1))
		if pause > maxWait {
			return fmt.Errorf("%w: it wants to be asked again in %v: %w", ErrUnavailable, pause, err)
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
		wait *= 2
	}
}

// sleep waits, or gives the cause of the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// retryAfter is what a response says about when to try again, as RFC 9110, section
// 10.2.3, has it: seconds or a time.
func retryAfter(r *http.Response, now time.Time) time.Duration {
	value := r.Header.Get("Retry-After")
	if n, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(value); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}
