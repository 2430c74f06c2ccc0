package server

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// An update comes in shards, in any order, beside each other and again, computes when it is
// committed, and a rollback has everything as before, to the bit.
func TestUpdateByShards(t *testing.T) {
	c := serveChanging(t)
	before, drawn := c.digest(), c.greedy()
	list := c.tensors(3)
	half := len(list) / 2
	update := c.begin(object{"version": "v2", "base": engine.FirstVersion, "manifest": manifest(list)})
	c.refused(update+"/commit", "", 409, "", "tensor_missing")
	second := safetensors(t, list[half:])
	sum := sha256.Sum256(second)
	c.put(update, "2.safetensors", second, "Content-Digest", "sha-512=:AA==:, sha-256=:"+base64.StdEncoding.EncodeToString(sum[:])+":")
	var said updateSaid
	if c.get(update, &said); said.Version != "v2" || said.Base != engine.FirstVersion || len(said.Missing) != half || said.Missing[0].Name != list[0].name ||
		said.Missing[0].Start != 0 || said.Missing[0].End != len(list[0].data) || said.ExpiresIn <= 50 || said.ExpiresIn > 60 {
		t.Errorf("%+v", said)
	}
	c.refused(updatesPath, object{"version": "v3", "manifest": manifest(list)}, 409, "", "update_open") // another trainer
	if w := c.weights(); w.Version != engine.FirstVersion || w.Open == nil || w.Open.Version != "v2" || w.Open.MissingBytes != said.MissingBytes {
		t.Errorf("%+v", w)
	}
	var senders sync.WaitGroup
	for range 3 {
		senders.Go(func() {
			if said := c.put(update, "a/1", safetensors(t, list[:half])); said.Tensors != half || said.Bytes == 0 {
				t.Errorf("%+v", said)
			}
		})
	}
	senders.Wait()
	for range 2 { // asked again, it is told the same
		c.control(update+"/commit", nil, &said)
		if said.Version != "v2" || said.Kept != engine.FirstVersion || said.Seconds <= 0 {
			t.Errorf("%+v", said)
		}
	}
	c.denied(http.MethodPut, update+"/shards/1", second, 409, "update_closed")
	after := c.digest()
	if after == before || slices.Equal(c.greedy(), drawn) {
		t.Error("nothing has changed")
	}
	c.control("/v1/weights/rollback", nil, &said)
	if said.Version != engine.FirstVersion || said.Kept != "v2" || c.digest() != before || !slices.Equal(c.greedy(), drawn) {
		t.Errorf("%+v", said)
	}
	c.refused("/v1/weights/rollback", object{"version": "v9"}, 409, "", "wrong_version")
	c.control("/v1/weights/rollback?version=v2", nil, &said)
	if c.digest() != after {
		t.Error("forth is not where it was before")
	}
	c.refused(updatesPath, object{"version": "v2", "manifest": manifest(list)}, 409, "", "wrong_version")
}

// Two trainers get into nobody's way, and what is given up is open to others.
func TestUpdateAborted(t *testing.T) {
	c := serveChanging(t)
	list := c.tensors(2)
	for range 3 {
		update := c.begin(object{"version": "v2", "manifest": manifest(list)})
		c.put(update, "1", safetensors(t, list[:3]))
		for range 2 {
			if status, data := c.send(http.MethodDelete, update, nil); status != http.StatusOK {
				t.Errorf("%d %s", status, data)
			}
		}
		c.refused(update+"/commit", "", 409, "", "update_closed")
		if w := c.weights(); w.Open != nil {
			t.Errorf("%+v", w.Open)
		}
	}
	if status, data := c.send(http.MethodDelete, updatesPath+"/none", nil); status != http.StatusOK {
		t.Errorf("%d %s", status, data)
	}
	c.refused(updatesPath+"/none/commit", "", 404, "", "update_not_found")
}

// deleted has an update given up, and tells what it is said to have become.
func (c *changing) deleted(update string) string {
	c.t.Helper()
	status, data := c.send(http.MethodDelete, update, nil)
	if status != http.StatusOK {
		c.t.Fatalf("%d %s", status, data)
	}
	var said updateSaid
	c.decode(data, &said)
	return said.Status
}

// late is an engine whose commits wait, and then come about or are given up.
type late struct {
	engine.API
	begun chan struct{}
	goes  chan struct{}
	fails bool
}

type lateUpdate struct {
	engine.Update
	late *late
}

func (e *late) Update(ctx context.Context, o engine.UpdateOptions) (engine.Update, error) {
	u, err := e.API.Update(context.WithoutCancel(ctx), o)
	return &lateUpdate{u, e}, err
}

func (u *lateUpdate) Commit(ctx context.Context) error {
	if !u.late.fails {
		if err := u.Update.Commit(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	close(u.late.begun)
	<-u.late.goes
	if u.late.fails {
		return ctx.Err()
	}
	return nil
}

// Who gives up what was committed, or is about to be, is told whether it serves.
func TestUpdateCommittedAndDeleted(t *testing.T) {
	for _, fails := range []bool{false, true} {
		c := serveChanging(t)
		list, slow := c.tensors(2), &late{API: c.engine, begun: make(chan struct{}), goes: make(chan struct{}), fails: fails}
		c.server.models[0].Engine = slow
		update := c.begin(object{"version": "v2", "manifest": manifest(list)})
		c.put(update, "1", safetensors(t, list))
		answer := c.background(update+"/commit", "")
		<-slow.begun
		deleted := make(chan string, 1)
		go func() { deleted <- c.deleted(update) }()
		last := c.server.models[0].trainer.transfers.last
		c.until("it is to be given up", func() bool { return last.ctx.Err() != nil })
		close(slow.goes)
		want, version := "committed", "v2"
		if fails {
			want, version = "aborted", engine.FirstVersion
		}
		if got := <-deleted; got != want || c.weights().Version != version {
			t.Errorf("it is said to be %s, and %s serves", got, c.weights().Version)
		}
		if a := <-answer; fails != (a.Error != nil) || fails && value(a.Error.Code) != "update_closed" {
			t.Errorf("%+v", a)
		}
		if again := c.deleted(update); again != want {
			t.Errorf("it is said to be %s", again)
		}
		if fails {
			c.refused(update+"/commit", "", 409, "", "update_closed")
			continue
		}
		var said updateSaid
		if c.control(update+"/commit", nil, &said); said.Version != "v2" {
			t.Errorf("%+v", said)
		}
	}
	if c := serveChanging(t); c.deleted(updatesPath+"/none") != "gone" {
		t.Error("nobody had it")
	}
}

// A lease that is over at once ends its update, too.
func TestUpdateOfNoTime(t *testing.T) {
	c := serveChanging(t)
	p := updateParams{Version: "v2"}
	for _, one := range c.tensors(2) {
		p.Manifest.Tensors = append(p.Manifest.Tensors, entryParams{Name: one.name, DType: one.dtype, Shape: one.shape, Digest: weights.Sum(weights.XXH3_64, one.data).String()})
	}
	m := &c.server.models[0]
	o, _, err := p.options(m)
	for range 20 {
		if err == nil {
			_, err = c.server.begin(m, o, 1)
		}
		if errors.Is(err, weights.ErrBusy) { // the one before is about to leave
			err = nil
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		c.until("it has expired", func() bool { return m.trainer.transfers.open() == nil })
	}
}

// What is wrong is refused, and the weights stay as they are.
func TestUpdateRefused(t *testing.T) {
	c := serveChanging(t)
	before := c.digest()
	list := c.tensors(2)
	ok := manifest(list)
	for name, o := range map[string]struct {
		asked       object
		status      int
		param, code string
	}{
		"no tensors":     {object{"version": "v2"}, 400, "manifest", "invalid_value"},
		"no version":     {object{"manifest": ok}, 400, "version", "invalid_value"},
		"served":         {object{"version": "default", "manifest": ok}, 409, "", "wrong_version"},
		"another base":   {object{"version": "v2", "base": "v1", "manifest": ok}, 409, "", "wrong_version"},
		"policy":         {object{"version": "v2", "kv_policy": "drop", "manifest": ok}, 400, "kv_policy", "invalid_value"},
		"lease":          {object{"version": "v2", "lease": 0, "manifest": ok}, 400, "lease", "invalid_value"},
		"digest":         {object{"version": "v2", "manifest": object{"tensors": ok["tensors"], "digest": "md5:00"}}, 400, "manifest.digest", "invalid_value"},
		"result":         {object{"version": "v2", "manifest": object{"tensors": ok["tensors"], "result": "12"}}, 400, "manifest.result", "invalid_value"},
		"missing tensor": {object{"version": "v2", "manifest": manifest(list[1:])}, 409, "", "tensor_missing"},
		"twice":          {object{"version": "v2", "manifest": manifest(append(list[:1:1], list...))}, 409, "", "tensor_twice"},
		"unknown tensor": {object{"version": "v2", "manifest": manifest(append(list[:len(list):len(list)], tensor{"x", "F32", []int{1}, make([]byte, 4)}))}, 404, "", "tensor_not_found"},
		"shape":          {object{"version": "v2", "manifest": manifest(changedTensor(list, func(t *tensor) { t.shape = []int{1} }))}, 400, "", "tensor_shape"},
		"negative shape": {object{"version": "v2", "manifest": manifest(changedTensor(list, func(t *tensor) { t.shape = []int{-1, 1 << 40} }))}, 400, "", "tensor_shape"},
		"type":           {object{"version": "v2", "manifest": manifest(changedTensor(list, func(t *tensor) { t.dtype = "I8" }))}, 400, "", "tensor_type"},
		"part, no base":  {object{"version": "v2", "manifest": object{"tensors": ok["tensors"], "partial": true}}, 409, "", "wrong_version"},
		"unknown model":  {object{"model": "x", "version": "v2", "manifest": ok}, 404, "model", "model_not_found"},
		"tensors' type":  {object{"version": "v2", "manifest": object{"tensors": object{}}}, 400, "manifest.tensors", "invalid_value"},
	} {
		t.Run(name, func(t *testing.T) {
			outer := c.t
			c.t = t
			defer func() { c.t = outer }()
			c.refused(updatesPath, o.asked, o.status, o.param, o.code)
		})
	}
	if w := c.weights(); w.Open != nil || w.Version != engine.FirstVersion || c.digest() != before {
		t.Errorf("%+v", w)
	}
}

// changedTensor is a list with its first tensor changed.
func changedTensor(list []tensor, change func(*tensor)) []tensor {
	list = slices.Clone(list)
	list[0].data = slices.Clone(list[0].data)
	change(&list[0])
	return list
}
