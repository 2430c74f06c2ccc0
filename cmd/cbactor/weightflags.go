package main

import (
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// policies are the words for what becomes of a cache.
var policies = map[string]engine.KVPolicy{"keep": engine.KVKeep, "recompute": engine.KVRecompute, "abort": engine.KVAbort}

// kvFlag is --kv.
type kvFlag struct{ to *engine.KVPolicy }

var _ pflag.Value = kvFlag{}

// Set implements pflag.Value.
func (v kvFlag) Set(text string) error {
	policy, ok := policies[text]
	if !ok {
		return errors.New("must be keep, recompute or abort")
	}
	*v.to = policy
	return nil
}

// String implements pflag.Value; usage has the default.
func (kvFlag) String() string { return "" }

// Type implements pflag.Value.
func (kvFlag) Type() string { return "policy" }

// kindFlag is a flag that names a hash function.
type kindFlag struct{ to *weights.DigestKind }

var _ pflag.Value = kindFlag{}

// Set implements pflag.Value.
func (v kindFlag) Set(text string) error {
	kind, err := weights.ParseKind(strings.ToLower(text))
	if err != nil {
		return errors.New("must be sha256, xxh3-64 or xxh3-128")
	}
	*v.to = kind
	return nil
}

// String implements pflag.Value; usage has the default.
func (kindFlag) String() string { return "" }

// Type implements pflag.Value.
func (kindFlag) Type() string { return "kind" }
