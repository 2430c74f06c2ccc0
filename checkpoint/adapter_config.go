package checkpoint

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"

	"github.com/cbactor/cbactor/model"
)

// Bounds of lists that are tried on every module.
const (
	maxPatterns = 256 // of ranks, of alphas
	maxNames    = 4096
)

// adapterConfig is what adapter_config.json says of what is computed.
type adapterConfig struct {
	kind     string
	rank     int
	alpha    float64
	rsLora   bool // scale by alpha/sqrt(rank)
	bias     string
	init     any
	targets  names
	excluded names
	layers   layerList

	ranks, alphas         map[string]float64
	rankRules, alphaRules []rule
}

// rule is a value for the modules whose name matches.
type rule struct {
	pattern *regexp.Regexp
	value   float64
}

// ofTraining are fields that do not change what a trained adapter computes.
var ofTraining = []string{
	"auto_mapping", "base_model_name_or_path", "eva_config", "inference_mode", "lora_dropout", "megatron_core", "peft_version",
	"qalora_group_size", "revision", "task_type",
}

// parseAdapterConfig reads the file. A field that is not known is refused when it is
// set: what it would change is not known either.
func parseAdapterConfig(js []byte) (*adapterConfig, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(js, &raw); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	c := &adapterConfig{rank: 8, alpha: 8, bias: "none", init: true} // PEFT's defaults
	known := map[string]any{
		"peft_type": &c.kind, "r": &c.rank, "lora_alpha": &c.alpha, "use_rslora": &c.rsLora, "bias": &c.bias, "init_lora_weights": &c.init,
		"target_modules": &c.targets, "exclude_modules": &c.excluded, "layers_to_transform": &c.layers,
		"rank_pattern": &c.ranks, "alpha_pattern": &c.alphas,
	}
	for _, name := range sortedKeys(raw) {
		if at := known[name]; at != nil {
			if err := json.Unmarshal(raw[name], at); err != nil {
				return nil, fmt.Errorf("%w: %s: %w", ErrFormat, name, err)
			}
		} else if !slices.Contains(ofTraining, name) && !unset(raw[name]) {
			return nil, fmt.Errorf("%w: %.40q is set, which is not implemented", model.ErrUnsupported, name)
		}
	}
	return c, c.check()
}

// unset tells what PEFT writes for an option that is not used.
func unset(value json.RawMessage) bool {
	return slices.Contains([]string{"null", "false", "{}", "[]", `""`, "0"}, string(value))
}

func (c *adapterConfig) check() error {
	switch {
	case c.kind != "LORA":
		return fmt.Errorf("%w: peft_type is %.40q, only LORA is implemented", model.ErrUnsupported, c.kind)
	case c.bias != "none":
		return fmt.Errorf("%w: bias is %.40q, only none is implemented", model.ErrUnsupported, c.bias)
	case !slices.Contains([]any{true, false, nil, "gaussian", "eva", "orthogonal"}, plain(c.init)):
		return fmt.Errorf("%w: init_lora_weights is %.40q, which changes the model's own weights: save the adapter converted to plain LoRA",
			model.ErrUnsupported, fmt.Sprint(c.init))
	case len(c.targets.list) > maxNames || len(c.excluded.list) > maxNames || len(c.layers) > maxNames:
		return fmt.Errorf("%w: more than %d target modules, excluded modules or layers", model.ErrUnsupported, maxNames)
	case c.rank < 1:
		return fmt.Errorf("%w: r is %d, must be at least 1", ErrFormat, c.rank)
	}
	var err error
	if c.rankRules, err = rules("rank_pattern", c.ranks); err != nil {
		return err
	}
	for _, r := range c.rankRules {
		if r.value != math.Trunc(r.value) || r.value < 1 || r.value > math.MaxInt32 {
			return fmt.Errorf("%w: rank_pattern has %v, must be a number from 1 on", ErrFormat, r.value)
		}
	}
	c.alphaRules, err = rules("alpha_pattern", c.alphas)
	return err
}

// plain makes a value of JSON one that may be compared.
func plain(v any) any {
	switch v.(type) {
	case []any, map[string]any:
		return fmt.Sprint(v)
	}
	return v
}

// rules compiles the patterns of a field, each a regular expression for the end of a
// module's name, from a dot on.
func rules(field string, patterns map[string]float64) ([]rule, error) {
	if len(patterns) > maxPatterns {
		return nil, fmt.Errorf("%w: %s has %d entries, at most %d are taken", model.ErrUnsupported, field, len(patterns), maxPatterns)
	}
	var list []rule
	for _, key := range sortedKeys(patterns) {
		pattern, err := regexp.Compile(`^(?:.*\.)?(?:` + key + `)$`)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", model.ErrUnsupported, field, err)
		}
		list = append(list, rule{pattern, patterns[key]})
	}
	return list, nil
}

// scale is the rank that a module's matrices must have, and what they are scaled by.
func (c *adapterConfig) scale(module string) (rank int, scale float64, err error) {
	r, err := first("rank_pattern", c.rankRules, module, float64(c.rank))
	if err != nil {
		return 0, 0, err
	}
	alpha, err := first("alpha_pattern", c.alphaRules, module, c.alpha)
	if err != nil {
		return 0, 0, err
	}
	if c.rsLora {
		return int(r), alpha / math.Sqrt(r), nil
	}
	return int(r), alpha / r, nil
}

// first is the value of the rule for a module. PEFT takes the first that matches in the
// order of the file: where two differ, that is refused.
func first(field string, list []rule, module string, otherwise float64) (float64, error) {
	value, found := otherwise, false
	for _, r := range list {
		if !r.pattern.MatchString(module) {
			continue
		}
		if found && r.value != value {
			return 0, fmt.Errorf("%w: %s has both %v and %v for %s", model.ErrUnsupported, field, value, r.value, module)
		}
		value, found = r.value, true
	}
	return value, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
