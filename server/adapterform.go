package server

import (
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/checkpoint"
)

// sentAdapter answers PUT /v1/adapters/NAME, with a form of the adapter's files. Until they are
// loaded they lie in a folder, not in memory.
func (s *Server) sentAdapter(w http.ResponseWriter, r *http.Request) (err error) {
	m, err := s.strictModel(r)
	if err != nil {
		return err
	}
	if err := s.closing(); err != nil {
		return err
	}
	name := r.PathValue("name")
	if err := s.adapterName("name", name); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "cbactor-adapter-")
	if err != nil {
		return fmt.Errorf("keep the files of an adapter: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := s.saveForm(w, r, folder); err != nil {
		return err
	}
	if err := m.Engine.LoadAdapter(r.Context(), name, os.DirFS(folder)); err != nil {
		return err
	}
	return s.tellAdapter(w, m, http.StatusCreated, name)
}

// saveForm writes the files of a form to a folder, in bounded space and time.
func (s *Server) saveForm(w http.ResponseWriter, r *http.Request, folder string) error {
	body := &arriving{body: http.MaxBytesReader(w, r.Body, s.limits.Adapter), control: http.NewResponseController(w), patience: s.limits.Arrival}
	r.Body = io.NopCloser(body)
	form, err := r.MultipartReader()
	if err != nil {
		return &refusal{http.StatusUnsupportedMediaType, "the body must be a form with the adapter's files: set the header Content-Type: multipart/form-data", "", "unsupported_media_type"}
	}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return body.done()
		}
		if err == nil {
			err = savePart(part, folder)
		}
		var refused *refusal
		switch {
		case errors.As(err, new(*http.MaxBytesError)):
			return errLarge(s.limits.Adapter)
		case errors.Is(err, os.ErrDeadlineExceeded):
			return errArrival(s.limits.Arrival)
		case errors.As(err, &refused):
			return refused
		case errors.As(err, new(*os.PathError)):
			return fmt.Errorf("keep the files of an adapter: %w", err)
		case err != nil:
			return badBody("it does not arrive: %v", err)
		}
	}
}

// savePart writes one of an adapter's files, which a part of a form is called by, or its file.
func savePart(part *multipart.Part, folder string) (err error) {
	name := part.FormName()
	if file := part.FileName(); slices.Contains(checkpoint.AdapterFiles, file) {
		name = file
	}
	if !slices.Contains(checkpoint.AdapterFiles, name) {
		return badBody("%.80q is no file of an adapter: send %s", name, strings.Join(checkpoint.AdapterFiles, " and "))
	}
	file, err := os.OpenFile(filepath.Join(folder, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return badBody("%s is there twice", name)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = io.Copy(file, part)
	return err
}
