package server

import "net/http"

type abortParams struct {
	IDs []string `json:"request_ids"` // none: all calls that came over HTTP
}

type abortAnswer struct {
	Status  string `json:"status"`
	Aborted int    `json:"aborted"` // calls that were open
}

// vllmAbort answers POST /abort_requests: calls end with what they have, without a pause.
func (s *Server) vllmAbort(w http.ResponseWriter, r *http.Request) error {
	var p abortParams
	if err := s.parameters(w, r, &p); err != nil {
		return err
	}
	return s.answer(w, http.StatusOK, abortAnswer{"aborted", s.open.abort(nil, p.IDs)})
}
