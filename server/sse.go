package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"
)

// event is a server-sent event with a JSON object; without one it is the [DONE] that ends
// a stream.
type event struct {
	name string // "": none
	data any
}

// events writes server-sent events. Who does not take one in time gets no more.
type events struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
	text     []byte
}

// stream begins an answer of events.
func (s *Server) stream(w http.ResponseWriter) *events {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return &events{w: w, control: http.NewResponseController(w), patience: s.limits.Patience}
}

// send writes events, all that came at once, and lets them go.
func (e *events) send(list []event) error {
	e.text = e.text[:0]
	for _, one := range list {
		data := []byte("[DONE]")
		if one.data != nil {
			var err error
			if data, err = encode(one.data); err != nil {
				return err
			}
		}
		if one.name != "" {
			e.text = append(append(append(e.text, "event: "...), one.name...), '\n')
		}
		e.text = append(append(append(e.text, "data: "...), data...), "\n\n"...)
	}
	err := e.control.SetWriteDeadline(time.Now().Add(e.patience))
	if err == nil {
		_, err = e.w.Write(e.text)
	}
	if err == nil {
		err = e.control.Flush()
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSlow
	}
	return fmt.Errorf("%w: %w", context.Canceled, err) // the client has gone, which its context may tell later
}
