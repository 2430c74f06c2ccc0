package server

import (
	"fmt"
	"net/http"
)

// modelObject is a model, or an adapter, as OpenAI tells of one.
type modelObject struct {
	ID         string  `json:"id"`
	Object     string  `json:"object"`
	Created    int64   `json:"created"` // when it began to be served
	OwnedBy    string  `json:"owned_by"`
	Root       string  `json:"root"`
	Parent     *string `json:"parent"` // of an adapter: its model
	MaxContext int     `json:"max_model_len"`
}

type modelList struct {
	Object string        `json:"object"`
	Data   []modelObject `json:"data"`
}

func (s *Server) modelObject(m *Model, adapter string) modelObject {
	o := modelObject{ID: m.Name, Object: "model", Created: s.begun.Unix(), OwnedBy: "cbactor", Root: m.Name, MaxContext: m.Engine.Info().MaxContext}
	if adapter != "" {
		o.ID, o.Parent = adapter, &m.Name
	}
	return o
}

// listModels answers GET /v1/models.
func (s *Server) listModels(w http.ResponseWriter, _ *http.Request) error {
	list := modelList{Object: "list"}
	for i := range s.models {
		m := &s.models[i]
		list.Data = append(list.Data, s.modelObject(m, ""))
		for _, a := range m.Engine.Adapters() {
			list.Data = append(list.Data, s.modelObject(m, a.Name))
		}
	}
	return s.answer(w, http.StatusOK, list)
}

// oneModel answers GET /v1/models/ID.
func (s *Server) oneModel(w http.ResponseWriter, r *http.Request) error {
	m, adapter, err := s.find(r.PathValue("id"))
	if err != nil {
		return err
	}
	return s.answer(w, http.StatusOK, s.modelObject(m, adapter))
}

// find is the model that a client asks for, or the model of the adapter of the name; "": the
// only one there is.
func (s *Server) find(name string) (m *Model, adapter string, err error) {
	if name == "" && len(s.models) > 1 {
		return nil, "", bad("model", "is missing: %d models are served, whose names are in /v1/models", len(s.models))
	}
	for i := range s.models {
		if m := &s.models[i]; name == "" || m.Name == name {
			return m, "", nil
		}
	}
	for i := range s.models {
		for _, a := range s.models[i].Engine.Adapters() {
			if a.Name == name {
				return &s.models[i], name, nil
			}
		}
	}
	return nil, "", &refusal{http.StatusNotFound, fmt.Sprintf("the model %.200q does not exist: /v1/models has those that do", name), "model", "model_not_found"}
}
