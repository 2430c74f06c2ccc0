package test

import (
	"bufio"
	"bytes"
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

// serving is the server of a script.
type serving struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	read   chan struct{} // closed at the end of standard error
	ready  chan string   // has the address
	once   sync.Once
	end    error
}

// serve FLAG...: begins to serve with these flags, on a port that is free, whose address is
// in ENGINE then.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: serve FLAG...")
	}
	path, err := buildCommand()
	ts.Check(err)
	s := ts.Value(servingKey{}).(*serving)
	*s = serving{cmd: exec.Command(path, append([]string{"serve", "--actors", "127.0.0.1:0"}, args...)...), read: make(chan struct{}), ready: make(chan string, 1)}
	s.cmd.Dir = ts.MkAbs(".")
	s.cmd.Env = append(os.Environ(), "CBACTOR_CACHE="+ts.Getenv("CBACTOR_CACHE"))
	pipe, err := s.cmd.StderrPipe()
	ts.Check(err)
	ts.Check(s.cmd.Start())
	go s.listen(bufio.NewScanner(pipe))
	ts.Defer(func() {
		// It has ended unless the script has failed.
		_ = s.cmd.Process.Kill()
		_ = s.wait()
	})
	select {
	case address := <-s.ready:
		ts.Setenv("ENGINE", address)
	case <-s.read:
		ts.Fatalf("the server has ended: %v: %s", s.wait(), s.stderr.String())
	case <-time.After(servingPatience):
		ts.Fatalf("the server is not ready after %v", servingPatience)
	}
}

// listen reads what the server says, to its end.
func (s *serving) listen(lines *bufio.Scanner) {
	defer close(s.read)
	for lines.Scan() {
		s.stderr.WriteString(lines.Text() + "\n")
		if _, address, found := strings.Cut(lines.Text(), " to actors at "); found {
			s.ready <- address
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
	select {
	case <-s.read:
	case <-time.After(servingPatience):
		ts.Fatalf("the server goes on for %v after SIGTERM", servingPatience)
	}
	err := s.wait()
	if status := s.cmd.ProcessState.String(); status != "exit status "+args[0] {
		ts.Fatalf("the server ended with %s (%v), want status %s: %s", status, err, args[0], s.stderr.String())
	}
	ts.Check(os.WriteFile(ts.MkAbs("served"), s.stderr.Bytes(), 0o600))
}
