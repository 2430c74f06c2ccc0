package hubcache

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

var (
	// ErrNotPulled means that there is no copy, or not of the file that is named.
	ErrNotPulled = errors.New("it is not in the cache")
	// ErrPartial means that a copy is not whole.
	ErrPartial = errors.New("its copy in the cache is not whole")
	// ErrSeveral means that a copy has several models, of which one is to be named.
	ErrSeveral = errors.New("it has several models")
)

// Find is the path of a model that was copied into the cache: of a folder in the layout
// of the Hugging Face libraries, or of a GGUF file. Errors: ErrNotPulled, ErrPartial,
// ErrSeveral.
func Find(cache string, r Ref) (string, error) {
	dir := r.Dir(cache)
	record, err := ReadRecord(dir)
	if err != nil {
		return "", err
	}
	names := slices.Sorted(maps.Keys(record.Files))
	if r.File != "" {
		name, err := Choose(names, r.File)
		if err == nil {
			return filepath.Join(dir, filepath.FromSlash(name)), nil
		}
		return "", fmt.Errorf("%w: %w", ErrNotPulled, err)
	}
	models := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !IsGGUF(n) })
	missing := slices.DeleteFunc(slices.Clone(record.Missing), IsGGUF) // each of those is a model by itself
	_, folder := record.Files["config.json"]
	switch {
	case len(missing) > 0:
		return "", fmt.Errorf("%w: %s is missing", ErrPartial, missing[0])
	case folder:
		return dir, nil
	case len(models) == 1:
		return filepath.Join(dir, filepath.FromSlash(models[0])), nil
	case len(models) > 1:
		return "", fmt.Errorf("%w: name one, as %s:%s", ErrSeveral, r, models[0])
	case len(record.Missing) > 0:
		return "", fmt.Errorf("%w: %s is missing", ErrPartial, record.Missing[0])
	}
	return "", ErrNotPulled
}

// IsGGUF says whether a file is a GGUF file by its name.
func IsGGUF(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".gguf") }

// Choose finds the file that is meant: the one of that name, else the only GGUF file
// with it as a part of its name between dots or dashes, as Q4_K_M in a-Q4_K_M.gguf,
// in capitals or not.
func Choose(names []string, what string) (string, error) {
	if slices.Contains(names, what) {
		return what, nil
	}
	var found []string
	for _, n := range names {
		parts := strings.FieldsFunc(strings.ToLower(n), func(r rune) bool { return r == '.' || r == '-' || r == '/' })
		if IsGGUF(n) && slices.Contains(parts, strings.ToLower(what)) {
			found = append(found, n)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("no file %.80q is there", what)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%.80q may be %s: give the whole name", what, strings.Join(found[:2], " or "))
}
