package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/checkpoint"
)

// namedModel is a model to serve, and the name by which clients ask for it.
type namedModel struct{ name, model string }

// modelsFlag is --model of a command that serves several: MODEL or NAME=MODEL, each time
// one. Without any it is the embedded one.
type modelsFlag struct{ list []namedModel }

var _ pflag.Value = (*modelsFlag)(nil)

// Set implements pflag.Value.
func (f *modelsFlag) Set(text string) error {
	name, model, named := strings.Cut(text, "=")
	if !named {
		name, model = nameOf(text), text
	}
	if name == "" || model == "" {
		return errors.New("must be a model, or a name, = and a model, such as tales=models/tales")
	}
	if slices.ContainsFunc(f.list, func(m namedModel) bool { return m.name == name }) {
		return errors.New("two models would have the name " + name + ": give one another name, with NAME=")
	}
	f.list = append(f.list, namedModel{name, model})
	return nil
}

// nameOf is the name of a model that was given none: its own, or that of its file or folder.
func nameOf(model string) string {
	if model == "" || slices.Contains(checkpoint.Names(), model) {
		return model
	}
	return filepath.Base(filepath.Clean(model))
}

// String implements pflag.Value.
func (f *modelsFlag) String() string {
	names := make([]string, len(f.list))
	for i, m := range f.list {
		names[i] = m.name
	}
	return strings.Join(names, ",")
}

// Type implements pflag.Value.
func (*modelsFlag) Type() string { return "[name=]model" }

// models are those to serve.
func (f *modelsFlag) models() []namedModel {
	if len(f.list) == 0 {
		return []namedModel{{checkpoint.Embedded, checkpoint.Embedded}}
	}
	return f.list
}
