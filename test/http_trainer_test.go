package test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cbactor/cbactor/weights"
)

// pushed is what a trainer says of an update that it has sent over HTTP, when that has ended.
type pushed struct {
	Version string
	File    bool // it was a file, named by its path; else shards
	Bytes   int
	Error   string

	Read   float64 // seconds to read the file, by the trainer
	Sent   float64 // until all has arrived
	Commit float64 // until it serves
}

// pusher is a trainer that speaks HTTP.
type pusher struct {
	ctx      context.Context
	url      string
	file     string
	set      *weights.Set
	manifest weights.Manifest
}

// push turns the weights of a model over, again and again, by shards and by files in turn, until
// ctx ends.
func push(ctx context.Context, p part) error {
	set, manifest, err := modelWeights(p.Model)
	if err != nil {
		return err
	}
	u := &pusher{context.WithoutCancel(ctx), p.Address, filepath.Join(p.Folder, "model.safetensors"), set, manifest}
	for n := 1; ctx.Err() == nil; n++ {
		line := pushed{Version: fmt.Sprintf("own-%d", n), File: n%4 > 1, Bytes: set.Bytes()}
		if turn(set); n%2 == 1 {
			line.Version = turned + line.Version
		}
		if err := u.update(&line); err != nil {
			line.Error = err.Error()
		}
		if err := say(line); err != nil {
			return err
		}
	}
	return nil
}

// update has the weights serve.
func (u *pusher) update(line *pushed) error {
	type tensor struct {
		Name  string `json:"name"`
		DType string `json:"dtype"`
		Shape []int  `json:"shape"`
	}
	var tensors []tensor
	for _, e := range u.manifest.Tensors {
		tensors = append(tensors, tensor{e.Name, e.DType, e.Shape})
	}
	var opened struct{ ID string }
	err := u.post("/v1/weights/updates", map[string]any{"version": line.Version, "kv_policy": "recompute", "manifest": map[string]any{"tensors": tensors}}, &opened)
	if err != nil {
		return err
	}
	path := "/v1/weights/updates/" + opened.ID
	if line.File {
		err = u.byFile(path, line)
	} else {
		err = u.byShards(path, line)
	}
	if err != nil {
		return err
	}
	begun := time.Now()
	var told struct{ Version string }
	if err := u.post(path+"/commit", nil, &told); err != nil {
		return err
	}
	if line.Commit = time.Since(begun).Seconds(); told.Version != line.Version {
		return fmt.Errorf("%q serves behind the commit", told.Version)
	}
	return nil
}

// byShards sends two bodies at the same time.
func (u *pusher) byShards(path string, line *pushed) error {
	list := slices.Collect(u.set.All())
	half := len(list) / 2
	defer func(begun time.Time) { line.Sent = time.Since(begun).Seconds() }(time.Now())
	errs := make(chan error)
	for i, shard := range [][]weights.Tensor{list[:half], list[half:]} {
		go func() {
			body, size, err := safetensors(shard)
			if err == nil {
				err = u.do(http.MethodPut, fmt.Sprintf("%s/shards/%d", path, i), body, size, nil)
			}
			errs <- err
		}()
	}
	return errors.Join(<-errs, <-errs)
}

// byFile writes a file and names it; how long it takes to read is looked at before.
func (u *pusher) byFile(path string, line *pushed) error {
	body, _, err := safetensors(slices.Collect(u.set.All()))
	if err != nil {
		return err
	}
	file, err := os.Create(u.file)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, body); err != nil {
		return errors.Join(err, file.Close())
	}
	if line.Read, err = reading(file); err != nil {
		return errors.Join(err, file.Close())
	}
	begun := time.Now()
	err = u.post(path+"/files", map[string]any{"paths": []string{u.file}}, nil)
	line.Sent = time.Since(begun).Seconds()
	return errors.Join(err, file.Close())
}

// reading is how many seconds it takes to read a file from its beginning.
func reading(file *os.File) (seconds float64, err error) {
	begun := time.Now()
	piece := make([]byte, 1<<20)
	for at := int64(0); ; {
		n, err := file.ReadAt(piece, at)
		if at += int64(n); err == io.EOF {
			return time.Since(begun).Seconds(), nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// safetensors are tensors in that format, and its length.
func safetensors(list []weights.Tensor) (io.Reader, int64, error) {
	header, at := map[string]any{}, 0
	data := make([]io.Reader, 1, 1+len(list))
	for _, t := range list {
		end := at + len(t.Data)
		header[t.Name] = map[string]any{"dtype": t.DType.String(), "shape": t.Shape, "data_offsets": []int{at, end}}
		data, at = append(data, bytes.NewReader(t.Data)), end
	}
	text, err := json.Marshal(header)
	if err != nil {
		return nil, 0, err
	}
	data[0] = bytes.NewReader(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...))
	return io.MultiReader(data...), int64(8 + len(text) + at), nil
}

// post sends JSON, and reads an answer if one is wanted.
func (u *pusher) post(path string, body, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return u.do(http.MethodPost, path, bytes.NewReader(text), int64(len(text)), answer)
}

func (u *pusher) do(method, path string, body io.Reader, size int64, answer any) error {
	req, err := http.NewRequestWithContext(u.ctx, method, u.url+path, body)
	if err != nil {
		return err
	}
	req.ContentLength = size
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}
