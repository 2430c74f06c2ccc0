package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/engine/remote"
	"github.com/cbactor/cbactor/internal/certs"
)

// connectFlags say to which engine elsewhere to connect.
type connectFlags struct {
	address string
	secure  secureFlags
}

func (f *connectFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.address, "connect", "", "engine that runs already and is served (cbactor serve --actors), HOST:PORT")
	f.secure.add(cmd.Flags())
}

// given says whether there is a connection to make.
func (f *connectFlags) given() bool { return f.address != "" }

// connect connects to the engine. The caller closes the client.
func (c *cli) connect(ctx context.Context, f *connectFlags) (*remote.Client, error) {
	secure, err := f.secure.load(certs.Files.Client)
	if err != nil {
		return nil, err
	}
	return wait(ctx, c, "connecting to "+f.address, func() (*remote.Client, error) {
		client, err := remote.Connect(ctx, f.address, remote.Options{TLS: secure, Log: c.log()})
		if err != nil && speaksHTTP(ctx, f.address) {
			err = fmt.Errorf("%s speaks HTTP: give --connect the address that `cbactor serve --actors` shows", f.address)
		}
		if errors.Is(err, syscall.ECONNREFUSED) {
			err = fmt.Errorf("%w: `cbactor serve --actors %s` starts one there", err, f.address)
		}
		return client, err
	})
}

// connected is a command that talks to an engine elsewhere, until its first signal.
func (c *cli) connected(cmd *cobra.Command, f *connectFlags, talk func(context.Context, *remote.Client) error) (err error) {
	if !f.given() {
		return badUsage("there is no engine to connect to: give --connect HOST:PORT, the address that `cbactor serve --actors` shows")
	}
	if err := f.secure.check(); err != nil {
		return err
	}
	ctx, stop := c.interrupts(cmd.Context(), cancelling)
	defer stop()
	client, err := c.connect(ctx, f)
	if err != nil {
		return ended(ctx, err)
	}
	defer closeEngine(client, "close the connection", &err)
	return ended(ctx, talk(ctx, client))
}

// speaksHTTP says whether a server of HTTP answers at an address to which there is no connection.
func speaksHTTP(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/version", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil
}
