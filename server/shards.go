package server

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/weights"
)

// shardTold is what has arrived by a call.
type shardTold struct {
	Tensors int   `json:"tensors"`
	Bytes   int64 `json:"bytes"`
}

// putShard answers PUT /v1/weights/updates/ID/shards/NAME. The body is staged as it comes, and
// never in memory but for a piece.
func (s *Server) putShard(w http.ResponseWriter, r *http.Request) error {
	t, _, err := s.transfer(r)
	if err != nil {
		return err
	}
	want, err := contentDigest(r.Header)
	if err != nil {
		return err
	}
	arriving := &arriving{body: r.Body, control: http.NewResponseController(w), patience: s.limits.Arrival}
	var told shardTold
	err = t.use(func() (err error) {
		told, err = t.read(r.Context(), arriving, want)
		return err
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return errArrival(s.limits.Arrival)
	}
	if err != nil {
		return fmt.Errorf("shard %.80q: %w", r.PathValue("name"), err)
	}
	s.log.Debug().Str("update", t.id).Str("shard", r.PathValue("name")).Int64("bytes", told.Bytes).Msg("a shard has arrived")
	if err := arriving.done(); err != nil {
		return err
	}
	return s.answer(w, http.StatusOK, told)
}

// read stages safetensors bytes, whose SHA-256 is want if there is one.
func (t *transfer) read(ctx context.Context, from io.Reader, want []byte) (told shardTold, err error) {
	sum := sha256.New()
	if want != nil {
		from = io.TeeReader(from, sum)
	}
	stream, err := checkpoint.ReadStream(from)
	if err != nil {
		return told, err
	}
	if told, err = t.send(ctx, stream); err != nil || want == nil {
		return told, err
	}
	if got := sum.Sum(nil); string(got) != string(want) {
		return told, fmt.Errorf("%w: Content-Digest is of other bytes than arrived, which are staged: the update is given up", weights.ErrDigest)
	}
	return told, nil
}

// send stages a stream.
func (t *transfer) send(ctx context.Context, stream *checkpoint.Stream) (told shardTold, err error) {
	send := weights.Send(stream.Send).Guarded(func() error { return context.Cause(ctx) })
	if err := send(t.update.Put); err != nil {
		return told, err
	}
	for _, tensor := range stream.Tensors() {
		told.Tensors, told.Bytes = told.Tensors+1, told.Bytes+int64(tensor.Bytes)
	}
	return told, nil
}

// contentDigest is the SHA-256 of Content-Digest (RFC 9530); nil: there is none.
func contentDigest(h http.Header) ([]byte, error) {
	list := strings.Join(h.Values("Content-Digest"), ",")
	if list == "" {
		return nil, nil
	}
	for member := range strings.SplitSeq(list, ",") {
		text, found := strings.CutPrefix(strings.TrimSpace(member), "sha-256=:")
		if !found {
			continue
		}
		text, closed := strings.CutSuffix(text, ":")
		if sum, err := base64.StdEncoding.DecodeString(text); err == nil && closed && len(sum) == sha256.Size {
			return sum, nil
		}
	}
	return nil, &refusal{http.StatusBadRequest, "Content-Digest must have sha-256=:BASE64:, as RFC 9530 has it", "", "invalid_value"}
}

// arrivingPiece is how many bytes have to arrive within the time that a whole small body has.
const arrivingPiece = 64 << 10

// arriving is a body of any size, of which each piece has to arrive in time. What else is done
// between its reads costs nothing of that.
type arriving struct {
	body     io.Reader
	control  *http.ResponseController
	patience time.Duration

	left int           // of the piece
	time time.Duration // for that
}

// Read implements io.Reader.
func (a *arriving) Read(p []byte) (int, error) {
	if a.left <= 0 {
		a.left, a.time = arrivingPiece, a.patience
	}
	begun := time.Now()
	if err := a.control.SetReadDeadline(begun.Add(a.time)); err != nil {
		return 0, err
	}
	n, err := a.body.Read(p)
	a.left, a.time = a.left-n, a.time-time.Since(begun)
	return n, err
}

// done ends the deadline of the last piece, which would end the watch over the connection.
func (a *arriving) done() error { return a.control.SetReadDeadline(time.Time{}) }

type filesParams struct {
	Paths []string `json:"paths"` // of files or folders of the server's machine
}

// readFiles answers POST /v1/weights/updates/ID/files.
func (s *Server) readFiles(w http.ResponseWriter, r *http.Request) error {
	t, _, err := s.transfer(r)
	if err != nil {
		return err
	}
	var p filesParams
	if err := s.object(w, r, &p, maxAdminWords, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	if len(p.Paths) == 0 {
		return bad("paths", "is empty or missing: give at least one")
	}
	var sum shardTold
	for _, path := range p.Paths {
		err := t.use(func() error {
			told, err := s.readFile(r.Context(), t, path)
			sum.Tensors, sum.Bytes = sum.Tensors+told.Tensors, sum.Bytes+told.Bytes
			return err
		})
		if err != nil {
			return err
		}
	}
	return s.answer(w, http.StatusOK, sum)
}

// readFile stages a file, or those of a folder.
func (s *Server) readFile(ctx context.Context, t *transfer, path string) (told shardTold, err error) {
	stream, err := s.tensors("paths", path)
	if err != nil {
		return told, err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	if told, err = t.send(ctx, stream); err != nil {
		return told, fmt.Errorf("%.200q: %w", path, err)
	}
	return told, nil
}
