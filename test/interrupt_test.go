package test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// running is a command in the middle of a file of requests that does not end: its
// first result is read, and many more requests are open.
type running struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	pipe   io.Closer
	stderr bytes.Buffer
}

// start gives the command lines and waits for the result of "short".
func start(t *testing.T, lines string) *running {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no such signals")
	}
	r := &running{cmd: command(t, "generate", "--json", "--requests", "-", "--ignore-eos")}
	r.cmd.Stderr = &r.stderr
	stdin, err := r.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.stdin, r.stdout, r.pipe = stdin, bufio.NewReader(stdout), stdout
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// It has ended unless the test has failed; both fail then.
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
	})
	if _, err := io.WriteString(r.stdin, lines); err != nil {
		t.Fatal(err)
	}
	if line, err := r.stdout.ReadString('\n'); err != nil || !strings.Contains(line, `"short"`) {
		t.Fatalf("the first result is %q, %v: %s", line, err, r.stderr.String())
	}
	return r
}

const short = `{"request_id":"short","prompt_ids":[0],"max_new_tokens":3}` + "\n"

// long is requests that go on for long after a prompt.
func long(prompt string) string {
	var lines strings.Builder
	for i := range 60 {
		fmt.Fprintf(&lines, `{"request_id":"long-%d","prompt_ids":[%s],"max_new_tokens":900}`+"\n", i, prompt)
	}
	return lines.String()
}

func (r *running) send(t *testing.T, s os.Signal) {
	t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// wait waits for the end, which must come soon, and gives the exit status.
func (r *running) wait(t *testing.T) int {
	t.Helper()
	slow := time.AfterFunc(30*time.Second, func() { _ = r.cmd.Process.Kill() }) // fails when it has just ended
	defer slow.Stop()
	return exitStatus(t, r.cmd.Wait())
}

// The first signal cancels what is open, also while standard input could give
// more, and prints what there is.
func TestSignalCancels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal os.Signal
		status int
	}{{os.Interrupt, 130}, {syscall.SIGTERM, 143}} {
		r := start(t, long("0")+short)
		r.send(t, c.signal)
		rest, err := io.ReadAll(r.stdout)
		if err != nil {
			t.Fatal(err)
		}
		if status := r.wait(t); status != c.status {
			t.Errorf("%v: exit status %d, want %d", c.signal, status, c.status)
		}
		all := results(t, string(rest))
		cancelled, tokens := 0, 0
		for _, one := range all {
			tokens += len(one.TokenIDs)
			if one.FinishReason == "cancelled" {
				cancelled++
			}
		}
		if len(all) != 60 || cancelled == 0 || tokens == 0 {
			t.Errorf("%v: %d results, %d of them cancelled, %d tokens", c.signal, len(all), cancelled, tokens)
		}
		if !strings.Contains(r.stderr.String(), " cancelled; ") {
			t.Errorf("%v: no summary: %s", c.signal, r.stderr.String())
		}
	}
}

// The second signal ends at once, here while the output is stuck.
func TestSecondSignalEnds(t *testing.T) {
	t.Parallel()
	r := start(t, short+long("0"+strings.Repeat(",1999", 600)))
	time.Sleep(time.Second) // so that all are open
	r.send(t, os.Interrupt)
	time.Sleep(time.Second) // results of more than any pipe holds wait to be read
	r.send(t, os.Interrupt)
	begin := time.Now()
	if status := r.wait(t); status != 130 {
		t.Errorf("exit status %d after %v", status, time.Since(begin))
	}
}

// When the reader of the output goes, the command ends without a word.
func TestClosedOutputEndsQuietly(t *testing.T) {
	r := start(t, short)
	if err := r.pipe.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(r.stdin, `{"prompt_ids":[0],"max_new_tokens":1}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if status := r.wait(t); status != 141 {
		t.Errorf("exit status %d", status)
	}
	if r.stderr.Len() > 0 {
		t.Errorf("standard error has %s", r.stderr.String())
	}
}

// When the output cannot be written, the command says so and ends.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer func() {
		if err := full.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, args := range [][]string{{"generate", "--prompt", "a"}, {"generate", "--json", "--prompt", "a"}, {"inspect"}, {"version"}} {
		cmd := command(t, args...)
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = full, &stderr
		if status := exitStatus(t, cmd.Run()); status != 1 || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("%v: exit status %d, %s", args, status, stderr.String())
		}
	}
}

// Before there is anything to cancel a signal ends the command as later ones do.
func TestSignalWhileReading(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no such signals")
	}
	cmd := command(t, "generate", "--json")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := stdin.Write(make([]byte, 1<<20)); err != nil { // more than a pipe holds: it is being read
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if status := exitStatus(t, cmd.Wait()); status != 130 || stdout.Len() > 0 {
		t.Errorf("exit status %d, %s%s", status, stdout.String(), stderr.String())
	}
}
