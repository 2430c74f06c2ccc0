package text

import (
	"slices"
	"strings"
	"sync"
)

const (
	cachedWords    = 1 << 14 // words kept at most
	cachedWordSize = 48      // bytes of the longest word that is kept
)

// wordCache remembers the tokens of words. When it is full it starts anew, so
// that words nobody needs any more do not fill it for ever. The zero value is
// empty and ready.
type wordCache struct {
	mu    sync.RWMutex
	words map[string][]int32
}

func (c *wordCache) get(word string) ([]int32, bool) {
	if len(word) > cachedWordSize {
		return nil, false
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	ids, ok := c.words[word]
	return ids, ok
}

// put copies both, so that no long text stays in memory for one of its words.
func (c *wordCache) put(word string, ids []int32) {
	if len(word) > cachedWordSize {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.words == nil || len(c.words) >= cachedWords {
		c.words = make(map[string][]int32)
	}
	c.words[strings.Clone(word)] = slices.Clone(ids)
}
