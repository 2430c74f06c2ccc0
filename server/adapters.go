package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"

	"github.com/cbactor/cbactor/engine"
)

// adapterTold is an adapter that is loaded.
type adapterTold struct {
	Name    string   `json:"name"`
	Rank    int      `json:"rank"`
	Modules []string `json:"modules"`
}

func (m *Model) adapters() []adapterTold {
	list := []adapterTold{}
	for _, a := range m.Engine.Adapters() {
		list = append(list, adapterTold{a.Name, a.Rank, a.Modules})
	}
	return list
}

// adapterName refuses a model's name for an adapter, which nobody could ask for by it.
func (s *Server) adapterName(param, name string) error {
	if slices.ContainsFunc(s.models, func(m Model) bool { return m.Name == name }) {
		return &refusal{http.StatusBadRequest, fmt.Sprintf("%s is %.80q, which is a model's: take another one", param, name), param, engine.Code(engine.ErrAdapterName)}
	}
	return nil
}

// loadAdapter loads an adapter from a folder of this machine, as PEFT writes it.
func (s *Server) loadAdapter(ctx context.Context, m *Model, name, param, path string) (err error) {
	if err := s.closing(); err != nil {
		return err
	}
	f, err := s.within(param, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	folder, err := fs.Sub(f.FS(), f.path)
	if err != nil {
		return err
	}
	return m.Engine.LoadAdapter(ctx, name, folder)
}

type adapterList struct {
	Adapters []adapterTold `json:"adapters"`
}

// listAdapters answers GET /v1/adapters.
func (s *Server) listAdapters(w http.ResponseWriter, r *http.Request) error {
	m, err := s.strictModel(r)
	if err != nil {
		return err
	}
	return s.answer(w, http.StatusOK, adapterList{m.adapters()})
}

type adapterParams struct {
	Model string `json:"model"`
	Name  string `json:"name"`
	Path  string `json:"path"`
}

// loadingAdapter answers POST /v1/adapters.
func (s *Server) loadingAdapter(w http.ResponseWriter, r *http.Request) error {
	var p adapterParams
	if err := s.strict(w, r, &p); err != nil {
		return err
	}
	m, _, err := s.find(p.Model)
	if err != nil {
		return err
	}
	if err := s.adapterName("name", p.Name); err != nil {
		return err
	}
	if err := s.loadAdapter(r.Context(), m, p.Name, "path", p.Path); err != nil {
		return err
	}
	return s.tellAdapter(w, m, http.StatusCreated, p.Name)
}

// tellAdapter tells of an adapter that was loaded.
func (s *Server) tellAdapter(w http.ResponseWriter, m *Model, status int, name string) error {
	list := m.adapters()
	if i := slices.IndexFunc(list, func(a adapterTold) bool { return a.Name == name }); i >= 0 {
		return s.answer(w, status, list[i])
	}
	return s.answer(w, status, adapterTold{Name: name}) // it was unloaded meanwhile
}

// unloadingAdapter answers DELETE /v1/adapters/NAME, when nothing computes with it any more.
func (s *Server) unloadingAdapter(w http.ResponseWriter, r *http.Request) error {
	m, err := s.strictModel(r)
	if err != nil {
		return err
	}
	if err := m.Engine.UnloadAdapter(r.Context(), r.PathValue("name")); err != nil {
		return err
	}
	return s.answer(w, http.StatusOK, statusAnswer{"unloaded"})
}
