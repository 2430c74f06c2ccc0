package grammar

import (
	"context"
	"slices"
	"sync"

	"github.com/cbactor/cbactor/text"
)

// maxKept is how many grammars a Cache keeps: 16 MiB each at most, beside their programs.
const maxKept = 16

// maxCompiling is how many are compiled at a time: who asks for more waits.
const maxCompiling = 2

// Cache compiles grammars for a model and keeps those that were asked for last, so that
// requests with the same Spec share what is known of its masks. It is safe for concurrent
// use. The zero Cache does not work: use NewCache.
type Cache struct {
	vocabulary func() *Vocabulary
	compiling  chan struct{} // one taken for each that is compiled

	mu   sync.Mutex
	kept []cached // the one asked for last comes last
}

type cached struct {
	spec    Spec
	grammar *Grammar
}

// NewCache makes the cache of a codec's grammars. The vocabulary is made when the first
// is asked for, which takes some 50 ms once.
func NewCache(codec *text.Codec) *Cache {
	return &Cache{vocabulary: sync.OnceValue(func() *Vocabulary { return NewVocabulary(codec) }), compiling: make(chan struct{}, maxCompiling)}
}

// Compile is Compile over the cache's vocabulary, for few callers at a time.
func (c *Cache) Compile(ctx context.Context, spec Spec) (*Grammar, error) {
	if g := c.find(spec); g != nil {
		return g, nil
	}
	select {
	case c.compiling <- struct{}{}:
		defer func() { <-c.compiling }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if g := c.find(spec); g != nil { // by who was before
		return g, nil
	}
	g, err := Compile(ctx, spec, c.vocabulary())
	if err != nil {
		return nil, err
	}
	return c.keep(spec, g), nil
}

// find is the grammar that is kept for a spec; nil: none is.
func (c *Cache) find(spec Spec) *Grammar {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.kept, func(k cached) bool { return k.spec.equal(spec) })
	if i < 0 {
		return nil
	}
	k := c.kept[i]
	c.kept = append(slices.Delete(c.kept, i, i+1), k)
	return k.grammar
}

// keep keeps a grammar, unless somebody else was first, whose grammar it answers then.
func (c *Cache) keep(spec Spec, g *Grammar) *Grammar {
	if other := c.find(spec); other != nil {
		return other
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kept) == maxKept {
		c.kept = slices.Delete(c.kept, 0, 1)
	}
	spec.Schema, spec.Choices = slices.Clone(spec.Schema), slices.Clone(spec.Choices)
	c.kept = append(c.kept, cached{spec, g})
	return g
}

// equal says whether two specs are written in the same way.
func (s Spec) equal(other Spec) bool {
	return s.Regex == other.Regex && s.JSON == other.JSON && (s.Schema == nil) == (other.Schema == nil) &&
		string(s.Schema) == string(other.Schema) && s.Before == other.Before && s.After == other.After && slices.Equal(s.Choices, other.Choices)
}
