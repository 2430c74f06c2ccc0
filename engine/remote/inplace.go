package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/messages"
	"github.com/cbactor/cbactor/weights"
)

// UpdateInPlace is engine.Engine.UpdateInPlace. What send gives is sent on as it comes, so that
// an error of the engine's may be told at a later tensor, or behind the last one. The engine
// ends an update of which nothing comes for 30 s, in the middle of send, too.
//
// Where the connection ends for good the second time, it is not known what serves: the weights are
// broken after those 30 s, unless all had come.
func (c *Client) UpdateInPlace(ctx context.Context, o engine.UpdateOptions, send weights.Send) error {
	if send == nil {
		return fmt.Errorf("%w: an update in place without a source of its tensors", engine.ErrParams)
	}
	u, err := c.begin(ctx, o, true)
	if err != nil {
		return err
	}
	if err = u.overwrite(send); err == nil {
		return nil
	}
	late, cancel := context.WithTimeout(context.Background(), patientTime)
	defer cancel()
	// What the engine cannot be told it finds by itself. It says whether the weights are whole.
	_, aborted := u.ask(late, aborting(u.number))
	if errors.Is(aborted, engine.ErrBroken) && !errors.Is(err, engine.ErrBroken) {
		err = fmt.Errorf("%w: %w", aborted, err)
	}
	return err
}

// overwrite sends all twice.
func (u *update) overwrite(send weights.Send) error {
	if err := u.sendAll(send); err != nil {
		return err
	}
	if _, err := u.ask(u.ctx, &messages.Call{What: &messages.Call_SendAgain{SendAgain: &messages.SendAgain{Update: u.number}}}); err != nil {
		return err
	}
	if !u.unbind() { // the engine is told to abort it
		return u.ctx.Err()
	}
	u.ctx = context.WithoutCancel(u.ctx) // what is written in part does not compute
	if err := u.sendAll(send); err != nil {
		return err
	}
	_, err := u.ask(u.ctx, &messages.Call{What: &messages.Call_Commit{Commit: &messages.Commit{Update: u.number}}})
	return err
}

// sendAll sends all once.
func (u *update) sendAll(send weights.Send) error {
	if err := send.Guarded(u.ctx.Err)(u.Put); err != nil {
		return err
	}
	return u.flow.wait(u.ctx)
}
