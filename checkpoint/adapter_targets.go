package checkpoint

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cbactor/cbactor/model"
)

// names are module names, or a pattern that stands for them.
type names struct {
	list    []string
	pattern string // a regular expression, or all-linear
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *names) UnmarshalJSON(js []byte) error {
	if len(js) > 0 && js[0] == '"' {
		return json.Unmarshal(js, &n.pattern)
	}
	return json.Unmarshal(js, &n.list)
}

// has tells that a module is named, whole or by the end of its name.
func (n *names) has(module string) bool {
	return slices.ContainsFunc(n.list, func(name string) bool { return named(module, name) })
}

func named(module, name string) bool { return module == name || strings.HasSuffix(module, "."+name) }

// layerList are numbers of layers; none stands for all.
type layerList []int

// UnmarshalJSON implements json.Unmarshaler.
func (l *layerList) UnmarshalJSON(js []byte) error {
	if len(js) > 0 && js[0] != '[' && js[0] != 'n' {
		*l = layerList{0}
		return json.Unmarshal(js, &(*l)[0])
	}
	return json.Unmarshal(js, (*[]int)(l))
}

// has tells that a module of the model's layers is in one of them.
func (l layerList) has(module string) bool {
	number, _, _ := strings.Cut(strings.TrimPrefix(module, "model.layers."), ".")
	return len(l) == 0 || slices.ContainsFunc(l, func(n int) bool { return strconv.Itoa(n) == number })
}

// modules are those that must have tensors, as far as names tell: a pattern is not
// evaluated, for what it matched is in the file. Each name must be one of the model's.
func (c *adapterConfig) modules(shapes map[string][]int) ([]string, error) {
	if strings.EqualFold(c.targets.pattern, "all-linear") {
		c.targets = names{list: sortedKeys(shapes)}
	}
	if c.excluded.pattern != "" {
		return nil, nil
	}
	var must []string
	for _, name := range c.targets.list {
		found := false
		for module := range shapes {
			if named(module, name) {
				found = true
				if c.layers.has(module) && !c.excluded.has(module) {
					must = append(must, module)
				}
			}
		}
		if !found {
			return nil, fmt.Errorf("%w: target_modules has %.80q, the model has no module of that name that an adapter may add to", model.ErrAdapter, name)
		}
	}
	slices.Sort(must)
	return slices.Compact(must), nil
}
