package server

import (
	"net/http"
	"time"
)

// events writes server-sent events. Who does not take one in time gets no more.
type events struct {
	w       http.ResponseWriter
	control *http.ResponseController
	server  *Server
	line    []byte
}

// stream begins an answer of events.
func (s *Server) stream(w http.ResponseWriter) (*events, error) {
	e := &events{w: w, control: http.NewResponseController(w), server: s}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return e, e.flush()
}

// send writes an event with a JSON object.
func (e *events) send(v any) error {
	line, err := encode(v)
	if err != nil {
		return err
	}
	return e.write(line)
}

func (e *events) write(data []byte) error {
	e.line = append(append(append(e.line[:0], "data: "...), data...), "\n\n"...)
	if _, err := e.w.Write(e.line); err != nil {
		return err
	}
	return e.flush()
}

func (e *events) flush() error {
	if err := e.control.SetWriteDeadline(time.Now().Add(e.server.limits.Patience)); err != nil {
		return err
	}
	return e.control.Flush()
}

// end ends the stream, with an event that tells of an error if there is one.
func (e *events) end(err error) {
	if err != nil {
		err = e.send(refusalOf(err, "").body())
	}
	if err == nil {
		err = e.write([]byte("[DONE]"))
	}
	if err != nil {
		e.server.log.Debug().Err(err).Msg("a client did not take its stream")
	}
}
