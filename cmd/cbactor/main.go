package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
)

func main() {
	// Writes to a pipe that nobody reads fail instead of killing the process.
	signal.Ignore(syscall.SIGPIPE)
	c := &cli{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, console: show.NewConsole(os.Stderr)}
	os.Exit(c.run(os.Args[1:]))
}

// cli is the command and the streams of its process.
type cli struct {
	stdin, stdout, stderr *os.File
	console               *show.Console // stderr, above a live block if there is one
	verbose               int
	logging               logFlags // of serve
}

// run runs a command line and gives the exit status.
func (c *cli) run(args []string) int {
	root := c.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	if err != nil && cmd.ValidateFlagGroups() != nil { // cobra does not say of what kind its error is
		err = usageError{error: err, command: cmd.CommandPath()}
	}
	if message := errorLine(err); message != "" {
		c.say("%s", message)
	}
	return status(err)
}

// say writes a line to standard error. There is nobody to tell when it fails.
func (c *cli) say(format string, args ...any) {
	_, _ = fmt.Fprintf(c.console, "cbactor: "+format+"\n", args...)
}

// print writes results to standard output.
func (c *cli) print(s string) error {
	if _, err := io.WriteString(c.stdout, s); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}
