package server

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// Weights change over HTTP beside streams, again and again: no token is lost or told twice, and
// the versions cover them all, in order.
func TestSwapsBesideStreams(t *testing.T) {
	t.Parallel()
	for _, kv := range []string{"keep", "recompute", "abort"} {
		t.Run(kv, func(t *testing.T) {
			c := serveChanging(t)
			streams, swaps := 4, 3
			if kv == "abort" {
				swaps = 1 // nothing runs then
			}
			var running sync.WaitGroup
			ends := make([]told, streams)
			c.pause("?mode=keep") // all of them meet all of the swaps
			for i := range streams {
				running.Go(func() {
					ends[i] = c.streamed(completionsPath, object{"prompt": count(3 + i), "max_tokens": 300, "ignore_eos": true, "return_token_ids": true})
				})
			}
			c.until("all streams are open", func() bool { return c.engine.Metrics().Open == int64(streams) })
			c.resume("")
			for i := range swaps {
				c.moved(60)
				list := c.tensors(2 + i)
				update := c.begin(object{"version": fmt.Sprint("v", i), "kv_policy": kv, "manifest": manifest(list)})
				for at := range list {
					c.put(update, "1", safetensors(t, list[at:at+1]))
				}
				c.control(update+"/commit", nil, &updateSaid{})
			}
			c.hurried.Store(true)
			running.Wait()
			for i, end := range ends {
				choice := end.Choices[0]
				n := len(choice.IDs)
				versions := versionsOf(choice.Weights.Spans)
				if !covers(choice.Weights.Spans, n) || !slices.IsSorted(versions) {
					t.Errorf("stream %d: %d tokens by %+v", i, n, choice.Weights)
				}
				switch reason := choice.FinishReason; {
				case kv == "abort" && (reason != "abort" || len(versions) != 1),
					kv != "abort" && (reason != "length" || n != 300 || len(versions) != swaps+1):
					t.Errorf("stream %d: %d tokens by %v, and ended by %s", i, n, versions, reason)
				}
			}
			c.resting()
		})
	}
}

// An update under a pause whose holder has not said to keep caches computes them again, as
// vLLM does; what the update says goes before.
func TestPolicyOfAPause(t *testing.T) {
	c := serveChanging(t)
	m := &c.server.models[0]
	want := func(what, asked string, want engine.KVPolicy) {
		t.Helper()
		if got, err := m.policy(asked); err != nil || got != want {
			t.Errorf("%s: %v, %v, want %v", what, got, err, want)
		}
	}
	want("no pause", "", engine.KVAsUpdate)
	c.pause("?mode=keep")
	want("a pause", "", engine.KVRecompute)
	want("it says", "keep", engine.KVKeep)
	c.resume("")
	c.pause("?mode=keep&clear_cache=false")
	want("kept", "", engine.KVAsUpdate)
	c.pause("?mode=keep&lease=60")
	want("a lease", "", engine.KVRecompute)
}

// A call waits until other weights serve.
func TestChanges(t *testing.T) {
	c := serveChanging(t)
	said := make(chan updateSaid, 2)
	for _, after := range []string{"?after=default", ""} {
		go func() {
			var s updateSaid
			c.get("/v1/weights/changes"+after, &s)
			said <- s
		}()
	}
	c.until("they wait", func() bool { return len(c.server.watchers) == 2 })
	c.update("v2", engine.KVKeep)
	for range 2 {
		if s := <-said; s.Version != "v2" || s.Kept != engine.FirstVersion {
			t.Errorf("%+v", s)
		}
	}
	var now updateSaid
	if c.get("/v1/weights/changes?after=default", &now); now.Version != "v2" {
		t.Errorf("%+v", now)
	}
	if status, data := c.send(http.MethodGet, "/v1/weights/changes?timeout=0.05", nil); status != http.StatusNoContent || len(data) > 0 {
		t.Errorf("%d %s", status, data)
	}
	for _, query := range []string{"?timeout=-1", "?timeout=301", "?timeout=x"} {
		c.denied(http.MethodGet, "/v1/weights/changes"+query, nil, 400, "invalid_value")
	}
}

// What is broken is not other weights that serve: it is waited until some do.
func TestChangesWhileBroken(t *testing.T) {
	c := serveChanging(t)
	c.server.models[0].Engine = broken{c.engine}
	if status, data := c.send(http.MethodGet, "/v1/weights/changes?after=default&timeout=0.05", nil); status != http.StatusNoContent {
		t.Errorf("%d %s", status, data)
	}
}

// broken is an engine whose weights are.
type broken struct{ engine.API }

func (broken) Version() string { return "" }

// Where a version is to be named a label does, too: the newest one's, or that of what is meant.
func TestChangesAndRollbackByLabel(t *testing.T) {
	c := serveChanging(t)
	same := func(after string) bool {
		status, _ := c.send(http.MethodGet, "/v1/weights/changes?timeout=0.05&after="+after, nil)
		return status == http.StatusNoContent
	}
	c.told("/update_weight_version", `{"new_version":"first"}`)
	if !same("first") || !same("default") || same("other") {
		t.Errorf("%v %v %v", same("first"), same("default"), same("other"))
	}
	c.update("v2", engine.KVKeep)
	c.told("/update_weight_version", `{"new_version":"second"}`)
	if same("first") || !same("second") {
		t.Errorf("%v %v", same("first"), same("second"))
	}
	var said updateSaid
	for _, back := range []struct{ label, version string }{{"first", "default"}, {"second", "v2"}, {"default", "default"}} {
		if c.control("/v1/weights/rollback", object{"version": back.label}, &said); said.Version != back.version {
			t.Errorf("%+v, want %+v", said, back)
		}
	}
	c.told("/update_weight_version", `{"new_version":"second"}`) // both are called so
	if c.control("/v1/weights/rollback", object{"version": "second"}, &said); said.Version != "v2" || !same("second") {
		t.Errorf("%+v", said)
	}
	c.refused("/v1/weights/rollback", object{"version": "third"}, 409, "", "wrong_version")
}

// The end of a server gives up the update that is open, and ends who waits.
func TestUpdatesEndWithTheServer(t *testing.T) {
	c := serveChanging(t)
	list := c.tensors(2)
	c.begin(object{"version": "v2", "manifest": manifest(list)})
	waiting := make(chan int, 1)
	go func() {
		status, _ := c.send(http.MethodGet, "/v1/weights/changes", nil)
		waiting <- status
	}()
	c.until("one waits", func() bool { return len(c.server.watchers) == 1 })
	c.server.Drain(t.Context())
	if status := <-waiting; status != http.StatusServiceUnavailable {
		t.Errorf("%d", status)
	}
	c.update("v3", engine.KVKeep) // others may begin theirs
	c.refused(updatesPath, object{"version": "v2", "manifest": manifest(list)}, 503, "", "server_shutdown")
}

// The weights of an engine elsewhere change, and its pauses are held, likewise.
func TestUpdateElsewhere(t *testing.T) {
	c := serveChanging(t)
	client := c.elsewhere()
	s, err := New(Options{Models: []Model{{Name: "tiny", Engine: client, Texts: client}}})
	if err != nil {
		t.Fatal(err)
	}
	c.serveBy(s)
	list, before := c.tensors(2), c.digest()
	p := c.pause("?mode=keep&lease=3")
	update := c.begin(object{"version": "v2", "manifest": manifest(list)})
	c.refused(update+"/commit", "", 409, "", "tensor_missing")
	c.put(update, "1", safetensors(t, list))
	var said updateSaid
	if c.control(update+"/commit", nil, &said); said.Version != "v2" || c.digest() == before {
		t.Errorf("%+v", said)
	}
	c.until("the lease has ended", func() bool { return !c.isPaused().Paused })
	c.refused("/pause?hold="+*p.Hold, "", 404, "hold", "hold_lost")
	c.control("/v1/weights/rollback", nil, &said)
	if c.digest() != before {
		t.Errorf("%+v", said)
	}
	update = c.begin(object{"version": "v3", "lease": 0.1, "manifest": manifest(list)})
	time.Sleep(150 * time.Millisecond)
	c.until("the update is given up", func() bool { return c.weights().Open == nil })
	c.refused(update+"/commit", "", 409, "", "update_closed")
	c.begin(object{"version": "v3", "manifest": manifest(list)})
}

// Who waits for other weights takes no place of a call that generates; they have their own.
func TestWatchersAreBounded(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{Blocks: 64}, engine.Config{}, Options{Limits: Limits{Calls: 1}})
	ctx, leave := context.WithCancel(t.Context())
	waits := make(chan struct{})
	go func() {
		defer close(waits)
		r.server.Handler().ServeHTTP(deadlined{httptest.NewRecorder()}, localGet(ctx, "/v1/weights/changes"))
	}()
	r.until("it waits", func() bool { return len(r.server.watchers) == 1 })
	r.ask(completionsPath, object{"prompt": "a", "max_tokens": 1})
	if n := r.scrape()["cbactor_calls_open"]; n != 0 {
		t.Errorf("%g calls generate", n)
	}
	for range maxWatchers - 1 {
		r.server.watchers <- struct{}{}
	}
	w := deadlined{httptest.NewRecorder()}
	if r.server.Handler().ServeHTTP(w, localGet(t.Context(), "/v1/weights/changes?timeout=0")); w.Code != http.StatusTooManyRequests {
		t.Errorf("one more: %d", w.Code)
	}
	leave()
	<-waits
	w = deadlined{httptest.NewRecorder()}
	if r.server.Handler().ServeHTTP(w, localGet(t.Context(), "/v1/weights/changes?timeout=0")); w.Code != http.StatusNoContent {
		t.Errorf("then: %d", w.Code)
	}
}

// localGet is a request of a program of this machine.
func localGet(ctx context.Context, path string) *http.Request {
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, nil)
	r.RemoteAddr = here
	return r
}
