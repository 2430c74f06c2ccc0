package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Bounds of the answer to a question for health.
const (
	healthTime = 5 * time.Second
	maxHealth  = 1 << 20
)

func (c *cli) healthCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "health [URL]",
		Short: "Ask a server for its health, as containers do",
		Long: "Asks a server of HTTP whether it is alive, at URL/health, and says what it answers: ok, or paused, which is\n" +
			"no illness. The exit status is 1 when it does not answer, or an engine of it does not run.",
		Example: "  cbactor health\n  cbactor health http://127.0.0.1:9000",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageError{error: badUsage("give one URL"), command: cmd.CommandPath()}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.health(cmd.Context(), append(args, "http://"+defaultListen)[0])
		},
	}
}

func (c *cli) health(ctx context.Context, server string) error {
	if u, err := url.Parse(server); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return badUsage("%q is no URL such as http://%s", server, defaultListen)
	}
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(server, "/")+"/health", nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // all that is wanted of it was read
	var told struct{ Status string }
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxHealth)).Decode(&told); err != nil || told.Status == "" {
		return fmt.Errorf("%s answers %s, and nothing about its health", server, resp.Status)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s is %s", server, told.Status)
	}
	return c.print(told.Status + "\n")
}
