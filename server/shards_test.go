package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// Bytes that are wrong end an update, and the old weights serve on, to the bit.
func TestWrongBytes(t *testing.T) {
	c := serveChanging(t)
	before, list := c.digest(), c.tensors(2)
	good := safetensors(t, list)
	notFinite := changedTensor(list, func(t *tensor) { copy(t.data[len(t.data)-2:], []byte{0xc0, 0x7f}) })
	for i, sent := range []struct {
		name   string
		list   []tensor // of the manifest
		first  []byte   // sent before, and taken; nil: nothing
		data   []byte
		header []string
		status int
		code   string
		over   bool // the update is
	}{
		{"NaN", notFinite, nil, safetensors(t, notFinite), nil, 400, "not_finite", true},
		{"bad digest", list, nil, safetensors(t, changedTensor(list, func(t *tensor) { t.data[0] ^= 1 })), nil, 400, "wrong_digest", true},
		{"twice, differing", list, safetensors(t, list[:2]), safetensors(t, changedTensor(list, func(t *tensor) { t.data[0] ^= 1 })[:2]), nil, 409, "tensor_twice", true},
		{"Content-Digest", list, nil, good, []string{"Content-Digest", "sha-256=:" + strings.Repeat("A", 43) + "=:"}, 400, "wrong_digest", true},

		{"Content-Digest that is none", list, nil, good, []string{"Content-Digest", "md5=:AAAA:"}, 400, "invalid_value", false},
		{"type", list, nil, safetensors(t, changedTensor(list, func(t *tensor) { t.dtype = map[string]string{"F32": "I32", "BF16": "F16"}[t.dtype] })), nil, 400, "tensor_type", false},
		{"shape", list, nil, safetensors(t, changedTensor(list, func(t *tensor) { t.shape = []int{t.shape[0] * t.shape[1]} })), nil, 400, "tensor_shape", false},
		{"unknown", list, nil, safetensors(t, []tensor{{"x", "F32", []int{1}, make([]byte, 4)}}), nil, 404, "tensor_not_found", false},
		{"no safetensors", list, nil, []byte("no safetensors at all"), nil, 400, "bad_safetensors", false},
		{"nothing", list, nil, nil, nil, 400, "bad_safetensors", false},
		{"cut", list, nil, good[:len(good)-1], nil, 400, "bad_safetensors", false},
		{"goes on", list, nil, append(slices.Clone(good), 0), nil, 400, "bad_safetensors", false},
		{"a header of terabytes", list, nil, []byte{0, 0, 0, 0, 0, 1, 0, 0, '{'}, nil, 400, "bad_safetensors", false},
	} {
		asked := manifest(sent.list)
		if sent.code != "wrong_digest" || sent.header != nil {
			for _, e := range asked["tensors"].([]object) {
				delete(e, "digest")
			}
		}
		version := fmt.Sprint("v", i)
		update := c.begin(object{"version": version, "manifest": asked})
		if sent.first != nil {
			c.put(update, "1", sent.first)
		}
		c.denied(http.MethodPut, update+"/shards/1", sent.data, sent.status, sent.code, sent.header...)
		switch open := c.weights().Open; {
		case sent.over && open != nil:
			t.Errorf("%s: it is open", sent.name)
		case sent.over:
			c.refused(update+"/commit", "", sent.status, "", sent.code)
		default: // what was refused has changed nothing
			if open == nil {
				t.Errorf("%s: it is over", sent.name)
			}
			c.send(http.MethodDelete, update, nil)
		}
		if w := c.weights(); w.Version != engine.FirstVersion || c.digest() != before {
			t.Fatalf("%s: %+v", sent.name, w)
		}
	}
	whole := object{"tensors": manifest(list)["tensors"], "result": "sha256:" + strings.Repeat("0", 64)}
	update := c.begin(object{"version": "v99", "manifest": whole})
	c.put(update, "1", good)
	c.refused(update+"/commit", "", 400, "", "wrong_digest")
	if c.weights().Open != nil || c.digest() != before {
		t.Error("the wrong result counts")
	}
}

// A trainer that is gone in the middle of a tensor: the lease ends its update, and others begin
// theirs. What has arrived before counts.
func TestTrainerGone(t *testing.T) {
	c := serveChanging(t)
	before, list := c.digest(), c.tensors(2)
	data := safetensors(t, list)
	update := c.begin(object{"version": "v2", "lease": 3, "manifest": manifest(list)})
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, "PUT %s/shards/1 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s", update, len(data), data[:len(data)/2]); err != nil {
		t.Fatal(err)
	}
	var said updateSaid
	c.until("some has arrived", func() bool { c.get(update, &said); return said.MissingBytes < len(data)*2/3 })
	time.Sleep(3500 * time.Millisecond) // it is a call that uses it, as long as it takes
	if c.weights().Open == nil {
		t.Error("the lease has ended in the middle of a call")
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	c.until("the lease has ended", func() bool { return c.weights().Open == nil })
	c.refused(update+"/commit", "", 409, "", "update_closed")
	if c.digest() != before {
		t.Error("the weights have changed")
	}
	update = c.begin(object{"version": "v2", "lease": 60, "manifest": manifest(list)})
	c.denied(http.MethodPut, update+"/shards/1", data[:len(data)/2], 400, "bad_safetensors")
	if c.get(update, &said); said.MissingBytes > len(data)*2/3 {
		t.Errorf("what has arrived is missing: %+v", said)
	}
	c.put(update, "1", data)
	c.control(update+"/commit", nil, &said)
	if said.Version != "v2" {
		t.Errorf("%+v", said)
	}
}

// Each call that uses an update begins its lease again. What takes a busy machine longer than a
// lease shows nothing: then there is another try, with a longer one.
func TestLeaseOfAnUpdate(t *testing.T) {
	c := serveChanging(t)
	goes := func(version string, lease time.Duration) (update string, on bool) {
		update = c.begin(object{"version": version, "lease": lease.Seconds(), "manifest": manifest(c.tensors(2))})
		for end := time.Now().Add(2 * lease); time.Now().Before(end); time.Sleep(lease / 20) {
			var said updateSaid
			_, data := c.send(http.MethodGet, update, nil)
			if err := json.Unmarshal(data, &said); err != nil {
				t.Fatal(err)
			}
			if said.Version != version || said.ExpiresIn < lease.Seconds()/2 {
				t.Logf("with a lease of %v: %s", lease, data)
				return update, false
			}
		}
		return update, true
	}
	lease := 800 * time.Millisecond
	update, on := goes("v2", lease)
	for try := 3; !on && try < 6; try++ {
		c.send(http.MethodDelete, update, nil)
		lease *= 2
		update, on = goes(fmt.Sprint("v", try), lease)
	}
	if !on {
		t.Error("its lease does not begin again")
	}
	c.until("the lease has ended", func() bool { return c.weights().Open == nil })
	c.refused(update+"/commit", "", 409, "", "update_closed")
}

// lingering is an engine whose updates take a while to commit.
type lingering struct {
	engine.API
	begun chan struct{} // closed: by a commit
	left  chan struct{} // closed: nobody waits for it
}

func (l lingering) Update(ctx context.Context, o engine.UpdateOptions) (engine.Update, error) {
	u, err := l.API.Update(ctx, o)
	return lingeringUpdate{u, l}, err
}

type lingeringUpdate struct {
	engine.Update
	of lingering
}

func (u lingeringUpdate) Commit(ctx context.Context) error {
	close(u.of.begun)
	<-u.of.left
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(300 * time.Millisecond):
		return u.Update.Commit(ctx)
	}
}

// A commit whose client goes is not given up, and who asks again is told how it went.
func TestCommitWithoutItsClient(t *testing.T) {
	c := serveChanging(t)
	begun, left := make(chan struct{}), make(chan struct{})
	c.server.models[0].Engine = lingering{c.engine, begun, left}
	list := c.tensors(2)
	update := c.begin(object{"version": "v2", "manifest": manifest(list)})
	c.put(update, "1", safetensors(t, list))
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-begun
		leave()
	}()
	if resp, err := http.DefaultClient.Do(c.request(ctx, update+"/commit", "")); err == nil {
		drop(t, resp)
		t.Error("the first was answered")
	}
	close(left)
	var said updateSaid
	c.control(update+"/commit", nil, &said)
	if said.Version != "v2" || c.weights().Version != "v2" {
		t.Errorf("%+v", said)
	}
}

// A body that does not go on costs its sender the connection; one that does may take as long
// as it likes.
func TestShardArrivesInPieces(t *testing.T) {
	c := serveChanging(t)
	c.server.limits.Arrival = 3 * time.Second
	list := c.tensors(2)
	data := safetensors(t, list)
	update := c.begin(object{"version": "v2", "manifest": manifest(list)})
	slow, sender := io.Pipe()
	go func() {
		for piece := range slices.Chunk(data, len(data)/8) {
			if _, err := sender.Write(piece); err != nil {
				t.Error(err)
			}
			time.Sleep(c.server.limits.Arrival / 6)
		}
		if err := sender.Close(); err != nil {
			t.Error(err)
		}
	}()
	if status, answer := c.send(http.MethodPut, update+"/shards/1", slow); status != http.StatusOK {
		t.Errorf("%d %s", status, answer)
	}
	if got := c.raw(fmt.Sprintf("PUT %s/shards/1 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{", update)); got != 408 {
		t.Errorf("%d", got)
	}
	var said updateSaid
	c.control(update+"/commit", nil, &said)
}

// A body that comes byte by byte has to bring its piece in time, too.
func TestShardTrickles(t *testing.T) {
	c := serveChanging(t)
	c.server.limits.Arrival = 200 * time.Millisecond
	update := c.begin(object{"version": "v2", "manifest": manifest(c.tensors(2))})
	slow, sender := io.Pipe()
	begun, stop := time.Now(), make(chan struct{})
	go func() {
		defer close(stop)
		for {
			if _, err := sender.Write([]byte{' '}); err != nil || time.Since(begun) > patience {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	sent := make(chan int, 1)
	go func() {
		status, _ := c.send(http.MethodPut, update+"/shards/1", io.MultiReader(bytes.NewReader([]byte{0, 16, 0, 0, 0, 0, 0, 0, '{'}), slow))
		sent <- status
	}()
	select {
	case status := <-sent:
		if took := time.Since(begun); status != 408 || took < c.server.limits.Arrival {
			t.Errorf("%d after %v", status, took)
		}
	case <-time.After(patience / 3):
		t.Error("it may go on for ever")
	}
	if err := slow.Close(); err != nil {
		t.Error(err)
	}
	<-stop
}

// swallowing is an engine whose updates take everything, and keep nothing.
type swallowing struct{ engine.API }

type swallower struct {
	engine.Update
	bytes int
}

func (swallowing) Update(context.Context, engine.UpdateOptions) (engine.Update, error) {
	return &swallower{}, nil
}

func (s *swallower) Put(_, _ string, _ []int, _ int, data []byte) error {
	s.bytes += len(data)
	return nil
}

func (*swallower) Dropped() string { return "" }
func (*swallower) Abort()          {}

// zeros are that many.
type zeros int

func (z *zeros) Read(p []byte) (int, error) {
	if *z == 0 {
		return 0, io.EOF
	}
	n := min(len(p), int(*z))
	clear(p[:n])
	*z -= zeros(n)
	return n, nil
}

// A body takes the memory of a piece of it, whatever its size.
func TestShardIsNotInMemory(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	r.server.models[0].Engine = swallowing{r.engine}
	update := r.begin(object{"version": "v2", "manifest": manifest([]tensor{{"a", "F32", []int{1}, nil}})})
	const size = 64 << 20
	header := fmt.Sprintf(`{"a":{"dtype":"F32","shape":[%d],"data_offsets":[0,%d]}}`, size/4, size)
	data := zeros(size)
	body := io.MultiReader(bytes.NewReader(append([]byte{byte(len(header)), 0, 0, 0, 0, 0, 0, 0}, header...)), &data)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	status, answer := r.send(http.MethodPut, update+"/shards/1", body, "Content-Digest", "sha-256=:"+strings.Repeat("A", 43)+"=:")
	runtime.ReadMemStats(&after)
	if a := r.read(answer); status != 400 || value(a.Error.Code) != "wrong_digest" { // all of it was read
		t.Errorf("%d %s", status, answer)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("%d bytes were allocated for a body of %d", used, size)
	}
}
