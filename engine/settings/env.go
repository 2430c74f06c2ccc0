package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/internal/nearest"
)

// Prefix begins the names of environment variables: CBACTOR_PAGE_SIZE is page_size.
const Prefix = "CBACTOR_"

// elsewhere are variables with the prefix that are no fields: where models are kept,
// which instruction set the CPU executor uses, where NVIDIA's driver and its library
// of products are, and two of the tests, which have others behind testPrefix.
var elsewhere = []string{"CBACTOR_CACHE", "CBACTOR_CPU", "CBACTOR_CUDA_LIBRARY", "CBACTOR_CUBLASLT", "CBACTOR_REQUIRE_ASSETS", "CBACTOR_FULL"}

const testPrefix = Prefix + "TEST_"

// Environ takes what is meant for the engine from a list of NAME=value, as
// os.Environ gives it; an empty value is none. A name with the prefix that does not exist is an error of
// class engine.ErrConfig.
func Environ(environ []string) ([]engine.Given, error) {
	var known []string
	for _, name := range Names() {
		known = append(known, Variable(name))
	}
	var list []engine.Given
	for _, pair := range environ {
		name, text, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, Prefix) || text == "" || slices.Contains(elsewhere, name) || strings.HasPrefix(name, testPrefix) {
			continue
		}
		if !slices.Contains(known, name) {
			return nil, unknown(name, slices.Concat(known, elsewhere))
		}
		list = append(list, engine.Given{Name: strings.ToLower(strings.TrimPrefix(name, Prefix)), Text: text, Called: name})
	}
	return list, nil
}

// modelName is what a model would be called if it were a field.
const modelName = "model"

// unknown says what a variable that does not exist may have been meant to be.
func unknown(name string, known []string) error {
	err := fmt.Errorf("%w: there is no environment variable %.80q", engine.ErrConfig, name)
	if name == Variable(modelName) {
		return fmt.Errorf("%w: give the model as --model", err)
	}
	if close := nearest.Close(strings.TrimPrefix(name, Prefix), bare(known)); close != "" {
		return fmt.Errorf("%w: did you mean %s?", err, Prefix+close)
	}
	return fmt.Errorf("%w: docs/configuration.md has all", err)
}

// bare are names without the prefix, which would make all alike.
func bare(names []string) []string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = strings.TrimPrefix(n, Prefix)
	}
	return list
}

// Variable is the environment variable of a field.
func Variable(name string) string { return Prefix + strings.ToUpper(name) }

// Names are all that files and environment may use, old ones too.
func Names() []string {
	var names []string
	for _, f := range engine.Fields() {
		names = append(names, f.Name)
	}
	return append(names, engine.Deprecated()...)
}
