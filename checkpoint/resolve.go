package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/cbactor/cbactor/internal/hubcache"
)

// Embedded is the name of the model that is part of the program. A folder of
// that name is opened as "./tiny".
const Embedded = "tiny"

// assets are the models that `make assets` puts into the cache.
var assets = map[string]string{
	"smollm2":      "SmolLM2-135M-Instruct.Q4_1.gguf",
	"smollm2-bf16": "SmolLM2-135M-Instruct-bf16",
}

// Names are the models that are known by name, the embedded one first.
func Names() []string { return append([]string{Embedded}, slices.Sorted(maps.Keys(assets))...) }

// Resolve turns what a user calls a model into what Open takes: "" and "tiny"
// mean the embedded model, "smollm2" and "smollm2-bf16" a model in the cache,
// ORG/NAME[@REVISION][:FILE], unless there is such a path, one that was pulled from a
// Hugging Face hub, and all else is a path. It wraps ErrAsset or ErrNotPulled when the
// cache does not have the model.
func Resolve(name string) (string, error) {
	if name == "" || name == Embedded {
		return Embedded, nil
	}
	asset, known := assets[name]
	ref, pulled := refOf(name)
	if !known && !pulled {
		return name, nil
	}
	dir, err := CacheDir()
	if err != nil {
		return "", err
	}
	if pulled {
		return findPulled(dir, ref)
	}
	path := filepath.Join(dir, asset)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w (%s)", ErrAsset, path)
	} else if err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	return path, nil
}

// refOf is a name as that of a model of a hub; false: it is a path that is there, or has
// the name of a file.
func refOf(name string) (hubcache.Ref, bool) {
	if _, err := os.Lstat(name); err == nil {
		return hubcache.Ref{}, false
	}
	ref, ok := hubcache.ParseRef(name)
	return ref, ok && !hubcache.IsGGUF(ref.Name)
}

// findPulled finds a copy of a model of a hub.
func findPulled(cache string, ref hubcache.Ref) (string, error) {
	path, err := hubcache.Find(cache, ref)
	switch {
	case errors.Is(err, hubcache.ErrNotPulled):
		return "", fmt.Errorf("%w: if it is one of the Hugging Face hub, run `cbactor pull %s`", ErrNotPulled, ref)
	case errors.Is(err, hubcache.ErrPartial):
		return "", fmt.Errorf("%w: %w: run `cbactor pull %s` to go on", ErrNotPulled, err, ref)
	case errors.Is(err, hubcache.ErrSeveral):
		return "", fmt.Errorf("%w: %w", ErrNotPulled, err)
	}
	return path, err
}

// CacheDir is where fetched models lie: $CBACTOR_CACHE, else "cbactor" in the
// user's cache folder. It need not exist.
func CacheDir() (string, error) {
	if dir := os.Getenv("CBACTOR_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no cache folder, set CBACTOR_CACHE: %w", err)
	}
	return filepath.Join(dir, "cbactor"), nil
}
