package remote

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/cbactor/cbactor/engine"
)

// Options say how to connect.
type Options struct {
	TLS *tls.Config // mutual; nil: to loopback alone

	// ID is what the engine calls the client, over all its connections: 16 to 48 letters,
	// digits and hyphens. It is the client's alone: of another one with the same id the engine
	// thinks that it is this one, whose open requests fail then. "":
	// one that nobody else has.
	ID string

	// Patience is how long a connection may be gone before what is open is given up, and how
	// long a call waits for one; 0: 30 s. It is never longer than the engine keeps what a client
	// has (cbactor serve --kept).
	Patience time.Duration

	Log zerolog.Logger // of connections that end

	address string
}

// defaultPatience is half of what engines keep by default.
const defaultPatience = 30 * time.Second

// Client is an engine that is elsewhere.
type Client struct {
	*engine.Front
	back *engine.Back
	link *link
	flow chan struct{} // room for calls with data
}

var _ engine.API = (*Client)(nil)

// Model is what a Client knows of the engine's model beside engine.Info.
type Model struct {
	Text       bool    // it has a tokenizer: Generate, Encode and Decode take and give text
	Ends       []int32 // ids that end a text, as the model's authors recommend
	Generation []byte  // its generation_config.json; nil: none
}

var idForm = regexp.MustCompile(`^[A-Za-z0-9-]{16,48}$`)

// Connect connects to an engine that cbactor serve --actors has at an address, host:port. There
// is one try, for as long as ctx at most. Without TLS the address must be of loopback.
func Connect(ctx context.Context, address string, o Options) (*Client, error) {
	names := o.ID + "-"
	if o.ID == "" {
		var random [12]byte
		_, _ = rand.Read(random[:]) // never fails
		o.ID = hex.EncodeToString(random[:])
		names = o.ID[:8] + "-"
	}
	if !idForm.MatchString(o.ID) {
		return nil, fmt.Errorf("%w: the id %.60q of a client must be 16 to 48 letters, digits and hyphens", engine.ErrParams, o.ID)
	}
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	o.address = address
	c := &Client{link: newLink(o)}
	answer := make(chan error, 1)
	c.link.tell(&connect{answer})
	var err error
	select {
	case err = <-answer:
	case <-ctx.Done():
		err = fmt.Errorf("connecting to %s: %w", address, ctx.Err())
	}
	if err != nil {
		c.link.close()
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	said := c.link.said.Load()
	c.flow = make(chan struct{}, said.flow)
	logprobs, sharing := said.setting("return_logprobs"), said.setting("allow_block_sharing")
	c.Front, c.back = engine.NewFront(place{c}, engine.FrontOptions{Names: names, Logprobs: logprobs, Sharing: sharing, Log: o.Log})
	return c, nil
}

// Close says goodbye: the engine cancels what this client has open, releases its holds and aborts
// its updates. The engine itself runs on. Where it cannot be told within 2 s, it does so when the
// client was away for as long as it keeps what clients have. Close is safe twice; afterwards every
// call answers engine.ErrClosed.
func (c *Client) Close() error {
	c.back.Close()
	c.link.close()
	c.back.Forget()
	return nil
}

// Info is the engine's configuration, as it has told it last.
func (c *Client) Info() engine.Info {
	info := c.link.said.Load().info
	info.EOS = slices.Clone(info.EOS)
	return info
}

// Model is what is known of the engine's model.
func (c *Client) Model() Model { return c.link.said.Load().model }
