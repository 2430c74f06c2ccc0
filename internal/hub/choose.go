package hub

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/internal/hubcache"
)

// needed are the files of a folder in the layout of the Hugging Face libraries, beside
// its tensors.
var needed = []string{
	"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json",
	"chat_template.jinja", "README.md", "LICENSE",
}

const (
	tensorIndex  = "model.safetensors.index.json"
	singleTensor = "model.safetensors"
)

// choose picks what is to be fetched: what patterns say, else one file that is named,
// else what a model needs, its tensors in one file of safetensors where there is one, or the
// index of their shards, else the one GGUF file. Errors are ErrChoice.
func (l *listing) choose(ref hubcache.Ref, include []string) ([]string, error) {
	names := slices.Sorted(maps.Keys(l.files))
	switch {
	case len(include) > 0:
		return matching(names, include)
	case ref.File != "":
		name, err := hubcache.Choose(names, ref.File)
		if err != nil {
			return nil, fmt.Errorf("%w: %w%s", ErrChoice, err, ggufs(names))
		}
		return []string{name}, nil
	}
	for _, tensors := range []string{singleTensor, tensorIndex} { // in the order in which a folder is read
		if _, ok := l.files[tensors]; ok {
			return append(filter(names, needed), tensors), nil
		}
	}
	models := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !hubcache.IsGGUF(n) })
	switch len(models) {
	case 0:
		return nil, fmt.Errorf("%w: %s has neither %s nor a .gguf file; with --include PATTERN others are fetched", ErrChoice, ref.Repo(), singleTensor)
	case 1:
		return models, nil
	}
	return nil, fmt.Errorf("%w: name a file, as %s:FILE%s", ErrChoice, ref, ggufs(names))
}

// alike refuses names that are one file on systems that do not tell capitals.
func alike(names []string) error {
	seen := make(map[string]string, len(names))
	for _, n := range names {
		folded := strings.ToLower(n)
		if other, twice := seen[folded]; twice {
			return fmt.Errorf("%w: %.80q and %.80q may be one file here: take one of them with --include", ErrChoice, other, n)
		}
		seen[folded] = n
	}
	return nil
}

// matching are the names that match a pattern; each pattern must match one.
func matching(names, patterns []string) ([]string, error) {
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil {
			return nil, fmt.Errorf("%w: %.80q is no pattern", ErrChoice, p)
		}
		if len(filter(names, []string{p})) == 0 {
			return nil, fmt.Errorf("%w: no file matches %.80q", ErrChoice, p)
		}
	}
	return filter(names, patterns), nil
}

// filter are the names that match one of the patterns.
func filter(names, patterns []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return !slices.ContainsFunc(patterns, func(p string) bool {
			ok, _ := path.Match(p, n) // patterns were tried before
			return ok
		})
	})
}

// ggufs tells which GGUF files there are, a few of them.
func ggufs(names []string) string {
	const most = 12
	said := ""
	for i, n := range filter(names, []string{"*.gguf", "*/*.gguf"}) {
		switch {
		case i == most:
			return said + ", …"
		case i == 0:
			said = "; there are "
		default:
			said += ", "
		}
		said += n
	}
	return said
}
