package test

import (
	"runtime"
	"syscall"
	"testing"
)

// server is a process that serves the embedded model.
type server struct {
	serving
	address string
}

// newServer begins to serve on a port that is free, or the one of --actors among the flags.
func newServer(t testing.TB, flags ...string) *server {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no such signals")
	}
	s := new(server)
	cmd := command(t, append([]string{"serve", "--actors", "127.0.0.1:0", "--num-blocks", "256"}, flags...)...)
	address, err := s.begin(cmd)
	t.Cleanup(s.stop)
	if err != nil {
		t.Fatal(err)
	}
	s.address = address
	return s
}

// signal sends the process a signal.
func (s *server) signal(t *testing.T, what syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(what); err != nil {
		t.Fatal(err)
	}
}
