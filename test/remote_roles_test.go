package test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// roleVariable has the part that a process of the test binary plays, instead of tests, and
// its arguments, as JSON.
const roleVariable = "CBACTOR_TEST_ROLE"

// soon is how long what must come may take, on a machine that has much else to do.
const soon = 60 * time.Second

// part is what a process of the test binary does, as a client of an engine: it says so in
// JSON lines on standard output. Its standard input ends when it is to end.
type part struct {
	Role    string // "reader" or "trainer"; over HTTP "streams" or "pusher"
	Address string // or URL
	Name    string
	Streams int    // of "streams", at a time
	Model   string // of "pusher", whose weights it sends
	Folder  string // of "pusher", for files that the server reads
}

// play plays a part and gives the exit status.
func play(text string) int {
	var p part
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		// However it ends: the test has ended it, or itself.
		_, _ = os.Stdin.Read(make([]byte, 1))
		stop()
	}()
	err := map[string]func(context.Context, part) error{"reader": read, "trainer": train, "streams": stream, "pusher": push}[p.Role](ctx, p)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s %s: %v\n", p.Role, p.Name, err)
		return 1
	}
	return 0
}

// say writes a line.
func say(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(text, '\n'))
	return err
}

// player is a process that plays a part, and the lines that it has said.
type player[Line any] struct {
	t    *testing.T
	cmd  *exec.Cmd
	end  func() error // has a part come to its end
	done chan struct{}

	mu    sync.Mutex
	lines []Line
}

// cast begins a process.
func cast[Line any](t *testing.T, p part) *player[Line] {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), roleVariable+"="+string(text))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c := follow[Line](t, cmd)
	c.end = stdin.Close
	return c
}

// follow begins a process that says JSON lines.
func follow[Line any](t *testing.T, cmd *exec.Cmd) *player[Line] {
	t.Helper()
	c := &player[Line]{t: t, cmd: cmd, done: make(chan struct{})}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go c.listen(bufio.NewScanner(stdout))
	t.Cleanup(func() {
		// It has ended unless the test has failed.
		_ = cmd.Process.Kill()
		<-c.done
		_ = cmd.Wait()
	})
	return c
}

func (c *player[Line]) listen(lines *bufio.Scanner) {
	defer close(c.done)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line Line
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			c.t.Errorf("line %q: %v", lines.Text(), err)
		}
		c.mu.Lock()
		c.lines = append(c.lines, line)
		c.mu.Unlock()
	}
}

// said are the lines so far.
func (c *player[Line]) said() []Line {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lines[:len(c.lines):len(c.lines)]
}

// says waits for so many lines more.
func (c *player[Line]) says(more int, within time.Duration) {
	c.t.Helper()
	want := len(c.said()) + more
	for deadline := time.Now().Add(within); len(c.said()) < want; time.Sleep(5 * time.Millisecond) {
		select {
		case <-c.done:
			if len(c.said()) < want {
				c.t.Fatalf("%v has ended after %d lines, want %d", c.cmd.Args, len(c.said()), want)
			}
		default:
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("%d lines after %v, want %d", len(c.said()), within, want)
		}
	}
}

func (c *player[Line]) signal(s syscall.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

// ends waits for the end of the process and gives all that it has said.
func (c *player[Line]) ends(within time.Duration) []Line {
	c.t.Helper()
	select {
	case <-c.done:
	case <-time.After(within):
		c.t.Fatalf("it goes on after %v, with %d lines", within, len(c.said()))
	}
	return c.said()
}
