package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
// mean the embedded model, "smollm2" and "smollm2-bf16" a model in the cache, and
// all else is a path. It wraps ErrAsset when the cache does not have the model.
func Resolve(name string) (string, error) {
	if name == "" || name == Embedded {
		return Embedded, nil
	}
	asset, ok := assets[name]
	if !ok {
		return name, nil
	}
	dir, err := CacheDir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, asset)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w (%s)", ErrAsset, path)
	} else if err != nil {
		return "", fmt.Errorf("cache: %w", err)
	}
	return path, nil
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
