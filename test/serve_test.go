package test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// servingPatience is how long a server may take to begin and to end.
const servingPatience = 60 * time.Second

// servingKey is where a script has its serving.
type servingKey struct{}

// serving is a server.
type serving struct {
	cmd      *exec.Cmd
	stderr   bytes.Buffer
	read     chan struct{} // closed at the end of standard error
	ready    chan string   // has the addresses, one after the other
	stopping chan struct{} // closed when it has said that it has heard the first signal
	once     sync.Once
	end      error
}

// begin begins to serve on a port that is free, and gives its address when it listens. stop
// must be called.
func (s *serving) begin(cmd *exec.Cmd) (address string, err error) {
	*s = serving{cmd: cmd, read: make(chan struct{}), ready: make(chan string, 4), stopping: make(chan struct{})}
	pipe, err := cmd.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		close(s.read)
		return "", err
	}
	go s.listen(bufio.NewScanner(pipe))
	select {
	case address := <-s.ready:
		return address, nil
	case <-s.read:
		return "", fmt.Errorf("the server has ended: %w: %s", s.wait(), s.stderr.String())
	case <-time.After(servingPatience):
		return "", fmt.Errorf("the server is not ready after %v", servingPatience)
	}
}

// stop ends it, if it has not ended, as it has unless a test fails.
func (s *serving) stop() {
	_ = s.cmd.Process.Kill()
	_ = s.wait()
}

// serve FLAG...: begins to serve with these flags; the address is in ENGINE then.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: serve FLAG...")
	}
	path, err := buildCommand()
	ts.Check(err)
	cmd := exec.Command(path, append([]string{"serve", "--actors", "127.0.0.1:0"}, args...)...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = append(os.Environ(), "CBACTOR_CACHE="+ts.Getenv("CBACTOR_CACHE"))
	s := ts.Value(servingKey{}).(*serving)
	address, err := s.begin(cmd)
	ts.Defer(s.stop)
	ts.Check(err)
	ts.Setenv("ENGINE", address)
}

// listen reads what the server says, to its end.
func (s *serving) listen(lines *bufio.Scanner) {
	defer close(s.read)
	for lines.Scan() {
		s.stderr.WriteString(lines.Text() + "\n")
		if what, address, found := strings.Cut(lines.Text(), " at "); found && strings.HasPrefix(what, "cbactor: serving ") {
			address, _, _ = strings.Cut(address, " (")
			select {
			case s.ready <- address:
			default: // of further models at the same address
			}
		}
		if strings.HasSuffix(lines.Text(), "; once more to end at once") {
			close(s.stopping)
		}
	}
}

// wait waits for the end of the process, which closes its standard error.
func (s *serving) wait() error {
	s.once.Do(func() {
		<-s.read
		s.end = s.cmd.Wait()
	})
	return s.end
}

// served STATUS: ends the server with SIGTERM, which must end it with the exit status. What
// it has said is in the file served.
func served(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(servingKey{}).(*serving)
	if neg || len(args) != 1 || s.cmd == nil {
		ts.Fatalf("usage: served STATUS, after serve")
	}
	ts.Check(s.cmd.Process.Signal(syscall.SIGTERM))
	ts.Check(s.endsWith("exit status " + args[0]))
	ts.Check(os.WriteFile(ts.MkAbs("served"), s.stderr.Bytes(), 0o600))
}

// endsWith waits for the end of the process, which must be as said.
func (s *serving) endsWith(end string) error {
	select {
	case <-s.read:
	case <-time.After(servingPatience):
		return fmt.Errorf("the server goes on for %v after its signal", servingPatience)
	}
	if err := s.wait(); s.cmd.ProcessState.String() != end {
		return fmt.Errorf("the server ended with %s (%v), want %s: %s", s.cmd.ProcessState, err, end, s.stderr.String())
	}
	return nil
}
