//go:build unix

package test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/internal/wire/wiretest"
)

var remoteRequests = flag.Int("remote.requests", 240, "requests of all clients in TestRemoteFaults, at least")

// troupe are a server, its clients and a trainer, each a process, with networks between them
// that can be hindered.
type troupe struct {
	t       *testing.T
	server  *server
	lines   [4]*wiretest.Proxy // of command, readers and trainer
	readers [2]*player[ended]
	command *player[result]
	trainer *player[trained]
}

// Two readers, `cbactor generate --connect` and a trainer use an engine, while one after the
// other is cut off, slowed down, stopped and killed, and strangers send garbage: each request ends
// once, and what was read is what the weights give that it says.
func TestRemoteFaults(t *testing.T) {
	t.Parallel()
	r := &troupe{t: t, server: newServer(t, "--kept", "3s")}
	for i := range r.lines {
		r.lines[i] = wiretest.NewProxy(t, r.server.address)
	}
	ofCommand := *remoteRequests / 4
	r.command = r.generate(ofCommand)
	r.trainer = r.train()
	for i := range r.readers {
		r.readers[i] = r.read(i, "reader")
	}
	r.readers[0].says(5, soon)
	memory := resident(t, r.server.cmd)

	var strangers sync.WaitGroup
	strangers.Go(func() { attack(t, r.server.address) })
	r.networks()
	r.frozen()
	lost := r.killed()
	strangers.Wait()

	for n := len(lost) + ofCommand; n+len(r.readers[0].said())+len(r.readers[1].said()) < *remoteRequests; {
		r.readers[0].says(1, soon)
	}
	var whole []ended
	for _, reader := range r.readers {
		list := r.end(reader)
		once(t, list)
		whole = append(whole, list...)
	}
	r.generated(ofCommand)
	if err := r.trainer.end(); err != nil {
		t.Error(err)
	}
	updates := r.trainer.ends(soon)
	rests(t, r.server.address)
	if now := resident(t, r.server.cmd); now > 0 {
		t.Logf("%d MiB resident of the server, %d at its beginning", now>>20, memory>>20)
		if now > memory+96<<20 {
			t.Error("its memory grows")
		}
	}
	newChecker(t, checkpoint.Embedded).check(t, append(whole, lost...))
	versions := map[string]bool{}
	for _, e := range whole {
		for _, s := range e.Versions {
			versions[s.Version] = true
		}
	}
	t.Logf("%d requests, %d of them of a client that was killed, by %d versions of the weights; the second trainer has tried %d updates", len(whole)+len(lost)+ofCommand, len(lost), len(versions), len(updates))
	if len(versions) < 3 {
		t.Error("weights have hardly changed: the test shows little")
	}
}

// once sees that each request of a reader has ended once, with all that it has asked for.
func once(t *testing.T, list []ended) {
	t.Helper()
	seen := map[string]bool{}
	for _, e := range list {
		if e.Reason != engine.FinishLength || seen[e.ID] {
			t.Errorf("%s: %s %s", e.ID, e.Reason, e.Error)
		}
		seen[e.ID] = true
	}
}

func (r *troupe) read(line int, name string) *player[ended] {
	return cast[ended](r.t, part{Role: "reader", Address: r.lines[line+1].Addr(), Name: fmt.Sprint(name, line)})
}

func (r *troupe) train() *player[trained] {
	return cast[trained](r.t, part{Role: "trainer", Address: r.lines[3].Addr(), Name: "trainer"})
}

// end has a reader come to its end.
func (r *troupe) end(reader *player[ended]) []ended {
	r.t.Helper()
	if err := reader.end(); err != nil {
		r.t.Error(err)
	}
	list := reader.ends(soon)
	if status := exitStatus(r.t, reader.cmd.Wait()); status != 0 {
		r.t.Errorf("a reader ends with status %d", status)
	}
	return list
}

// generate has the command read requests from a file.
func (r *troupe) generate(count int) *player[result] {
	var lines strings.Builder
	for i := range count {
		fmt.Fprintf(&lines, `{"request_id":"file-%d","prompt_ids":[%d,7,9],"max_new_tokens":%d}`+"\n", i, i%2000, 20+i*7%150)
	}
	file := r.t.TempDir() + "/in.jsonl"
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		r.t.Fatal(err)
	}
	cmd := command(r.t, "generate", "--connect", r.lines[0].Addr(), "--json", "--requests", file, "--ignore-eos", "--temperature", "0")
	cmd.Stderr = os.Stderr
	return follow[result](r.t, cmd)
}

// generated sees that the command has written every result once, whole.
func (r *troupe) generated(count int) {
	once := map[string]bool{}
	for _, line := range r.command.ends(5 * time.Minute) {
		if line.FinishReason != "length" || line.Usage.CompletionTokens != len(line.TokenIDs) || once[line.RequestID] {
			r.t.Errorf("the command: %+v", line)
		}
		once[line.RequestID] = true
	}
	if len(once) != count {
		r.t.Errorf("the command has %d results, want %d", len(once), count)
	}
	if status := exitStatus(r.t, r.command.cmd.Wait()); status != 0 {
		r.t.Errorf("the command ends with status %d", status)
	}
}

// networks cuts all connections, some times, and slows one client down, which goes on.
func (r *troupe) networks() {
	for range 4 {
		for _, line := range r.lines {
			line.Cut()
		}
		time.Sleep(150 * time.Millisecond)
	}
	r.lines[1].Throttle(20_000)
	r.readers[1].says(5, soon)
	r.readers[0].says(2, soon)
	r.lines[1].Throttle(0)
}

// frozen stops processes and lets them go on: what they hold up is themselves alone.
func (r *troupe) frozen() {
	r.readers[0].signal(syscall.SIGSTOP)
	r.readers[1].says(3, soon)
	r.readers[0].signal(syscall.SIGCONT)
	r.trainer.says(1, soon)
	r.trainer.signal(syscall.SIGSTOP) // maybe while it holds a pause: then its lease ends
	r.readers[0].says(3, soon)
	r.trainer.signal(syscall.SIGCONT)
	r.server.signal(r.t, syscall.SIGSTOP)
	time.Sleep(time.Second)
	r.server.signal(r.t, syscall.SIGCONT)
	r.readers[0].says(1, soon)
}

// killed kills the trainer, whose successor can go on, and a reader, whose requests end. It
// gives what that one had read.
func (r *troupe) killed() []ended {
	r.trainer.signal(syscall.SIGKILL)
	r.trainer = r.train()
	gone := r.readers[1]
	gone.signal(syscall.SIGKILL)
	lost := gone.ends(soon)
	once(r.t, lost)
	r.readers[1] = r.read(1, "heir")
	for updated := 0; updated < 3; {
		r.trainer.says(1, soon)
		updated = 0
		for _, line := range r.trainer.said() {
			if line.Error == "" {
				updated++
			}
		}
	}
	return lost
}
