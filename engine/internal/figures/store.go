package figures

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// most bounds a file, in bytes.
const most = 1 << 20

// Store is what is known on a kind of device. Figures that could not be written are known to
// it alone.
type Store struct {
	path, device string
	version      int

	mu    sync.Mutex
	known map[string]int
}

// file is what a file has.
type file struct {
	Version int            `json:"version"`
	Device  string         `json:"device"`
	Figures map[string]int `json:"figures"`
}

// Open reads what a folder, which need not exist, has of a kind of device, such as CPU, and a version of
// its tuner.
func Open(dir, device string, version int) *Store {
	s := &Store{path: filepath.Join(dir, fileName(device, version)), device: device, version: version}
	s.known = s.read()
	return s
}

// fileName is readable, and another one for every other device.
func fileName(device string, version int) string {
	words := strings.FieldsFunc(device, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
	readable := strings.ToLower(strings.Join(words, "-"))
	h := fnv.New32a()
	h.Write([]byte(device)) // which never fails
	return fmt.Sprintf("%.60s-%08x-v%d.json", readable, h.Sum32(), version)
}

// Path is the file's.
func (s *Store) Path() string { return s.path }

// Known is a figure.
func (s *Store) Known(key string) (int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.known[key]
	return v, ok
}

// Len is how many figures are known.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.known)
}

// Add notes figures and writes them, beside those that others have written since. An error
// says that the next process has to measure again.
func (s *Store) Add(learned map[string]int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.read()
	maps.Copy(now, s.known)
	maps.Copy(now, learned)
	s.known = now
	if err := s.write(); err != nil {
		return fmt.Errorf("what was tuned is not kept: %w", err)
	}
	return nil
}

// read is what the file has; nothing where there is none, or not one to be trusted.
func (s *Store) read() map[string]int {
	none := map[string]int{}
	in, err := os.Open(s.path)
	if err != nil {
		return none
	}
	defer in.Close() // after reading, nothing can be lost by it
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	var f file
	if err != nil || len(text) > most || json.Unmarshal(text, &f) != nil || f.Version != s.version || f.Device != s.device || f.Figures == nil {
		return none
	}
	return f.Figures
}

// write replaces the file.
func (s *Store) write() (err error) {
	text, err := json.MarshalIndent(file{s.version, s.device, s.known}, "", "\t")
	if err != nil {
		return err
	}
	dir := filepath.Dir(s.path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	out, err := os.CreateTemp(dir, "figures-*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(out.Name()))
		}
	}()
	_, err = out.Write(append(text, '\n'))
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), s.path)
}
