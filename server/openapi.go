package server

import (
	_ "embed"
	"net/http"
	"time"
)

// openAPI describes every route, as OpenAPI 3.1 has it. It is made from the table of routes
// and the structs that they read and answer with: go test ./server -run OpenAPI -update.
//
//go:embed openapi.json
var openAPI []byte

// describe answers GET /openapi.json.
func (s *Server) describe(w http.ResponseWriter, _ *http.Request) error {
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.limits.Patience)); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(openAPI); err != nil {
		s.log.Debug().Err(err).Msg("a client did not take the description of the routes")
	}
	return nil
}
