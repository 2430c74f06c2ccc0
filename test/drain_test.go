package test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// busy is a server of one sequence at a time, with a client that has many requests for it,
// of which the first one has ended.
type busy struct {
	serving
	client  *exec.Cmd
	results *bufio.Scanner
	stderr  bytes.Buffer
}

// wholeTokens is what each request asks for.
const wholeTokens = 100

// manyRequests are more than come to an end.
var manyRequests = strings.Repeat(`{"prompt_ids":[1,2,3]}`+"\n", 200)

func newBusy(t *testing.T, requests string, flags ...string) *busy {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("no such signals")
	}
	b := new(busy)
	server := command(t, append([]string{"serve", "--actors", "127.0.0.1:0", "--max-requests-per-batch", "1", "--num-blocks", "64"}, flags...)...)
	address, err := b.begin(server)
	t.Cleanup(b.stop)
	if err != nil {
		t.Fatal(err)
	}
	b.client = command(t, "generate", "--connect", address, "--json", "--requests", "-", "--ignore-eos", "--max-new-tokens", fmt.Sprint(wholeTokens))
	b.client.Stdin = strings.NewReader(requests)
	b.client.Stderr = &b.stderr
	pipe, err := b.client.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.client.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// It has ended if the test has waited for it.
		_ = b.client.Process.Kill()
		_ = b.client.Wait()
	})
	b.results = bufio.NewScanner(pipe)
	if !b.results.Scan() || !whole(b.results.Text()) {
		t.Fatalf("the first result is %q: %s", b.results.Text(), b.stderr.String())
	}
	return b
}

// whole says whether a result has all that was asked for.
func whole(result string) bool {
	return strings.Contains(result, `"finish_reason":"length"`) && strings.Contains(result, fmt.Sprintf(`"completion_tokens":%d`, wholeTokens))
}

// rest are the results that come, to the end of the client.
func (b *busy) rest() (list []string) {
	for b.results.Scan() {
		list = append(list, b.results.Text())
	}
	// That requests fail is its exit status 1: results and standard error say all.
	_ = b.client.Wait()
	return list
}

// A signal lets a server end what is open, and no more.
func TestServerDrains(t *testing.T) {
	t.Parallel()
	b := newBusy(t, manyRequests)
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	list := b.rest()
	if err := b.endsWith("exit status 0"); err != nil {
		t.Error(err)
	}
	refused := 0
	for _, r := range list {
		if strings.Contains(r, "it is stopping") {
			refused++
		} else if !whole(r) {
			t.Errorf("in part: %s", r)
		}
	}
	if refused == 0 || refused > 3 || !strings.Contains(b.stderr.String(), "no further requests are taken: ") {
		t.Errorf("%d of %d results are refused: %s", refused, len(list)+1, b.stderr.String())
	}
}

// It does so for as long as it may. Then clients read that what was open has failed, and do not
// look for the server again.
func TestServerDrainsForSoLong(t *testing.T) {
	t.Parallel()
	b := newBusy(t, `{"prompt_ids":[1,2,3],"n":100,"temperature":1}`, "--drain", "1ms")
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := b.endsWith("exit status 1"); err != nil {
		t.Error(err)
	}
	if said := b.serving.stderr.String(); !strings.Contains(said, "what was open had not ended after 1ms, and fails with what it has") {
		t.Errorf("it says %q", said)
	}
	ended := 0
	list := b.rest()
	for _, r := range list {
		switch {
		case strings.Contains(r, "the engine was stopped"):
			ended++
		case !whole(r):
			t.Errorf("ends otherwise: %s", r)
		}
	}
	if ended == 0 {
		t.Errorf("no client is told of an end: %q: %s", list, b.stderr.String())
	}
}

// The second signal ends it at once, with its own status.
func TestServerEndsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBusy(t, `{"prompt_ids":[1,2,3],"n":100,"temperature":1}`, "--drain", "1h") // all are open at once, and do not end soon
	if err := b.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-b.stopping: // of two signals that wait to be heard any may be the first
	case <-b.read:
	case <-time.After(servingPatience):
		t.Fatal("the first signal is not heard")
	}
	if err := b.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := b.endsWith("exit status 130"); err != nil {
		t.Error(err)
	}
}
