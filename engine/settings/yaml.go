package settings

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/cbactor/cbactor/engine"
)

// maxFile bounds a file, in bytes.
const maxFile = 64 << 10

// ReadFile reads a YAML file: a mapping of fields to values, and nothing else that
// YAML has. Errors are of class engine.ErrConfig and say where, or the system's.
func ReadFile(path string) (list []engine.Given, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	return ReadYAML(data, path)
}

// ReadYAML is ReadFile for what a file has. Numbers are decimal; null is what no line
// would be; hints and compile configurations may be mappings, lists and pairs sequences.
func ReadYAML(data []byte, name string) ([]engine.Given, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: %w: more than %d KiB are no configuration", name, engine.ErrConfig, maxFile>>10)
	}
	file, err := parse(data)
	if err != nil {
		return nil, syntaxError(name, err)
	}
	r := reader{name}
	var list []engine.Given
	for i, doc := range file.Docs {
		switch body := doc.Body.(type) {
		case nil, *ast.CommentGroupNode, *ast.NullNode:
		case *ast.MappingNode:
			if i > 0 {
				return nil, r.wrong(body, "a second document: give one")
			}
			if list, err = r.fields(body); err != nil {
				return nil, err
			}
		default:
			return nil, r.wrong(body, "no mapping: write NAME: VALUE lines")
		}
	}
	return list, nil
}

// parse is the library's, whose panics on broken input are errors.
func parse(data []byte) (file *ast.File, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("no YAML (%v)", cause)
		}
	}()
	tokens := lexer.Tokenize(string(data))
	if t := tooDeep(tokens); t != nil {
		return nil, &yaml.SyntaxError{Message: "brackets within brackets within brackets", Token: t}
	}
	return parser.Parse(tokens, 0)
}

// maxDepth of brackets is more than any field has; the library's time grows with
// the square of it.
const maxDepth = 8

// tooDeep is the first token that is within more brackets than maxDepth; nil: none.
func tooDeep(tokens token.Tokens) *token.Token {
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			if depth++; depth > maxDepth {
				return t
			}
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
	}
	return nil
}

func syntaxError(name string, err error) error {
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) && syntax.Token != nil {
		at := syntax.Token.Position
		return fmt.Errorf("%s:%d:%d: %w: %s", name, at.Line, at.Column, engine.ErrConfig, syntax.Message)
	}
	return fmt.Errorf("%s: %w: %w", name, engine.ErrConfig, err)
}

// reader turns the nodes of a file into texts.
type reader struct{ name string }

// at is where a node stands.
func (r reader) at(n ast.Node) string {
	if t := n.GetToken(); t != nil {
		return fmt.Sprintf("%s:%d:%d", r.name, t.Position.Line, t.Position.Column)
	}
	return r.name
}

func (r reader) wrong(n ast.Node, what string) error {
	return fmt.Errorf("%s: %w: %s", r.at(n), engine.ErrConfig, what)
}

func (r reader) fields(m *ast.MappingNode) ([]engine.Given, error) {
	list := make([]engine.Given, 0, len(m.Values))
	for _, pair := range m.Values {
		name, err := r.key(pair)
		if err != nil {
			return nil, err
		}
		if name == modelName {
			return nil, r.wrong(pair.Key, "the model is no field: give it as --model")
		}
		text, err := r.text(name, pair.Value)
		if err != nil {
			return nil, err
		}
		list = append(list, engine.Given{Name: name, Text: text, Where: r.at(pair.Key)})
	}
	return list, nil
}

func (r reader) key(pair *ast.MappingValueNode) (string, error) {
	key, ok := pair.Key.(*ast.StringNode)
	if !ok {
		return "", r.wrong(pair.Key, "a key that is no plain name")
	}
	return key.Value, nil
}

// text is the value of a field as flags have it.
func (r reader) text(field string, n ast.Node) (string, error) {
	switch n := n.(type) {
	case *ast.SequenceNode:
		if !takesList(field) {
			return "", r.wrong(n, "a list, and "+field+" takes one value")
		}
		return r.list(n)
	case *ast.MappingNode:
		return r.pairs(field, n)
	}
	return r.scalar(n)
}

// takesList says that a field may be a list; one that is not known may.
func takesList(name string) bool {
	for _, f := range engine.Fields() {
		if f.Name == name {
			return f.Syntax() == "list" || f.Syntax() == "bool[,bool]"
		}
	}
	return !slices.Contains(engine.Deprecated(), name)
}

func (r reader) scalar(n ast.Node) (string, error) {
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return "null", nil
	case *ast.StringNode:
		return n.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, nil
	}
	return "", r.wrong(n, "a value that is no plain number, word, list or mapping")
}

func (r reader) list(n *ast.SequenceNode) (string, error) {
	parts := make([]string, len(n.Values))
	for i, v := range n.Values {
		var err error
		if parts[i], err = r.scalar(v); err != nil {
			return "", err
		}
		if strings.Contains(parts[i], ",") {
			return "", r.wrong(v, "a comma within an element of a list")
		}
	}
	if len(parts) == 0 {
		return "none", nil
	}
	return strings.Join(parts, ","), nil
}

// pairs joins those of a mapping, each of which the field must take by itself.
func (r reader) pairs(field string, n *ast.MappingNode) (string, error) {
	parts := make([]string, len(n.Values)) // {} is "", which no field takes
	for i, pair := range n.Values {
		name, err := r.key(pair)
		if err != nil {
			return "", err
		}
		value, err := r.scalar(pair.Value)
		if err != nil {
			return "", err
		}
		parts[i] = name + "=" + value
		if !slices.Contains(Names(), field) {
			continue // it is refused as a whole
		}
		alone := engine.Given{Name: field, Text: parts[i], Where: r.at(pair.Key)}
		if err := new(engine.Config).Apply([]engine.Given{alone}); err != nil {
			return "", err
		}
	}
	return strings.Join(parts, ","), nil
}
