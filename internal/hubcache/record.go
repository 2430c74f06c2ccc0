package hubcache

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// Files of a copy that are not of the hub begin with this.
const Prefix = ".cbactor-"

// recordFile is the record of a folder.
const recordFile = Prefix + "hub.json"

// maxRecord is the size of the largest record that is read, in bytes.
const maxRecord = 16 << 20

// File is a file as the hub describes it.
type File struct {
	Size   int64  `json:"size"`   // in bytes
	Digest string `json:"digest"` // "sha256:" or "git:" and hexadecimal digits
}

// Record is what is known of a copy.
type Record struct {
	Repo     string          `json:"repo"`
	Revision string          `json:"revision"`
	Commit   string          `json:"commit"` // that the revision was when the copy was last gone on with
	Files    map[string]File `json:"files"`  // that are whole, by their names with slashes
	Missing  []string        `json:"missing,omitempty"`
}

// ValidName says whether a name is one of a file within a folder, on every system, that
// is not of our own.
func ValidName(name string) bool {
	local := fs.ValidPath(name) && name != "." && filepath.IsLocal(filepath.FromSlash(name)) && !strings.ContainsAny(name, `\:`)
	return local && !strings.HasPrefix(strings.ToLower(name), Prefix) && !strings.ContainsFunc(name, unicode.IsControl)
}

// ReadRecord reads the record of a folder. A folder without one has an empty record, and
// so has one whose record cannot be read as one: its files are then looked at anew.
func ReadRecord(dir string) (Record, error) {
	none := Record{Files: map[string]File{}}
	path := filepath.Join(dir, recordFile)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return none, nil
	}
	if err != nil {
		return none, fmt.Errorf("record of %s: %w", dir, err)
	}
	if info.Size() > maxRecord {
		return none, nil
	}
	js, err := os.ReadFile(path)
	if err != nil {
		return none, fmt.Errorf("record of %s: %w", dir, err)
	}
	var r Record
	if json.Unmarshal(js, &r) != nil || r.Files == nil {
		return none, nil
	}
	for name := range r.Files {
		if !ValidName(name) {
			return none, nil
		}
	}
	return r, nil
}

// Write replaces the record of a folder in one step.
func (r *Record) Write(dir string) error {
	js, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, recordFile)
	if err := os.WriteFile(path+".new", append(js, '\n'), 0o666); err != nil {
		return fmt.Errorf("record of %s: %w", dir, err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("record of %s: %w", dir, err)
	}
	return nil
}
