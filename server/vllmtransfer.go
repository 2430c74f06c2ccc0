package server

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

// handover is an update of the weights as vLLM's trainers drive one: it is begun, told of a
// path, and finished. What is there is looked at when it is told, and read when the update is
// finished.
type handover struct {
	mu    sync.Mutex
	until time.Time // when it is over unless it is called again; past: none is open
	path  string    // "": none was told yet
}

// handoverLease is that of vLLM's updates, whose calls say nothing of one.
const handoverLease = 10 * time.Minute

var (
	errHandover   = &refusal{http.StatusConflict, fmt.Sprintf("a weight update is open: finish it, or wait until nothing was heard of it for %v", handoverLease), "", "update_open"}
	errNoHandover = &refusal{http.StatusConflict, "no weight update is open: call /start_weight_update first", "", "update_closed"}
)

// begin opens one.
func (h *handover) begin() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open() {
		return errHandover
	}
	h.until, h.path = time.Now().Add(handoverLease), ""
	return nil
}

// open is called with mu.
func (h *handover) open() bool { return time.Now().Before(h.until) }

// idle says that none is open.
func (h *handover) idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.open()
}

// tell notes the path.
func (h *handover) tell(path string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case !h.open():
		return errNoHandover
	case h.path != "":
		return bad("update_info", "was sent before: an update has one path, of a folder where there are several files")
	}
	h.until, h.path = time.Now().Add(handoverLease), path
	return nil
}

// abandon closes it, if it is open.
func (h *handover) abandon() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.until = time.Time{}
}

// end closes it and gives the path.
func (h *handover) end() (path string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.open() {
		return "", errNoHandover
	}
	h.until = time.Time{}
	return h.path, nil
}
