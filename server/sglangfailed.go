package server

import "net/http"

// sglangFailed answers with an error where clients look for success in the body.
func (s *Server) sglangFailed(w http.ResponseWriter, err error) error {
	status, message := sglangStatus(w, err)
	return s.answer(w, status, sglangDone{false, message})
}

// sglangStatus is the status of an error, which is 400 where it is the client's own, and what
// it says.
func sglangStatus(w http.ResponseWriter, err error) (status int, message string) {
	why := refusalOf(err, "")
	if why.later() {
		w.Header().Set("Retry-After", retryAfter)
	}
	if why.status < http.StatusInternalServerError && !why.later() {
		return http.StatusBadRequest, why.message
	}
	return why.status, why.message
}

// sglangInstead answers a route of SGLang's for what cannot be had, and says what can.
func sglangInstead(what string) func(*Server, http.ResponseWriter, *http.Request) error {
	return func(s *Server, w http.ResponseWriter, r *http.Request) error {
		return s.answer(w, http.StatusBadRequest, sglangDone{false, r.URL.Path + " is not supported: " + what})
	}
}

// What to do in the place of what cannot be had.
const (
	insteadOfTensors = "write the weights to files and send their path to /update_weights_from_disk, or send safetensors to /v1/weights/updates"
	insteadOfNames   = "compare checksums by /weights_checker"
	insteadOfUpload  = "send the adapter's files to /v1/adapters/NAME"
)

// weightUpdate answers POST /begin_weight_update and /end_weight_update, between which SGLang
// has the tensors come one by one. Here an update is whole, whatever brings it.
func (s *Server) weightUpdate(w http.ResponseWriter, _ *http.Request) error {
	return s.answer(w, http.StatusOK, sglangDone{true, "there is nothing to prepare: updates are taken as a whole"})
}
