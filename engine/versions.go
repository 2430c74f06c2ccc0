package engine

import (
	"fmt"
	"slices"
	"sync"

	"github.com/cbactor/cbactor/actors"
)

// FirstVersion is what the weights are called that an engine begins with.
const FirstVersion = "default"

// VersionSpan says that weights of a version made what lies from Start on and before
// End.
type VersionSpan struct {
	Version    string `json:"version"`
	Start, End int
}

// versions are the names of weight epochs. Any goroutine may ask.
type versions struct {
	mu      sync.Mutex
	names   []string          // by epoch, from 1 on
	ranks   map[string]uint32 // places in the order in which versions came
	current uint32            // rank of what is planned with
	serves  string
	kept    string // what Rollback can go back to, "": nothing
}

func newVersions() *versions {
	return &versions{names: []string{FirstVersion}, ranks: map[string]uint32{FirstVersion: 0}, serves: FirstVersion}
}

// name gives an epoch its version, before anything is computed with it, and tells the
// version's rank: a new one, unless it comes again.
func (v *versions) name(epoch uint32, version string, again bool) (rank uint32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for len(v.names) < int(epoch) {
		v.names = append(v.names, version)
	}
	if !again {
		v.ranks[version] = uint32(len(v.names))
	}
	return v.ranks[version]
}

// serve notes what is planned with from now on, and what is kept.
func (v *versions) serve(rank uint32, serves, kept string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.current, v.serves, v.kept = rank, serves, kept
}

// forget notes that nothing is kept.
func (v *versions) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.kept = ""
}

// Version is the version of the weights that serve.
func (e *Engine) Version() string {
	e.versions.mu.Lock()
	defer e.versions.mu.Unlock()
	return e.versions.serves
}

// Kept is the version that Rollback can go back to; "": none.
func (e *Engine) Kept() string {
	e.versions.mu.Lock()
	defer e.versions.mu.Unlock()
	return e.versions.kept
}

// of is the version of an epoch.
func (v *versions) of(epoch uint32) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.names[epoch-1]
}

// least is the rank of a version that a request wants at least; "" is any. ErrStale
// says that it is not there.
func (v *versions) least(version string) (rank uint32, err error) {
	if version == "" {
		return 0, nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	rank, known := v.ranks[version]
	if !known || rank > v.current {
		return 0, fmt.Errorf("%w: min_version is %q: ask again when it was committed", ErrStale, version)
	}
	return rank, nil
}

// sampled appends that weights of an epoch sampled tokens up to end.
func (v *versions) sampled(spans []VersionSpan, epoch uint32, end int) []VersionSpan {
	v.mu.Lock()
	defer v.mu.Unlock()
	return extend(spans, v.names[epoch-1], end)
}

// cache is which versions computed a cache.
func (v *versions) cache(c actors.Cache) (spans []VersionSpan) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i, r := range c.Runs {
		end := c.Context
		if i+1 < len(c.Runs) {
			end = min(end, int(c.Runs[i+1].Start))
		}
		spans = extend(spans, v.names[r.Epoch-1], end)
	}
	return spans
}

// extend lets spans reach to end with a version. Two epochs of one version are one span.
func extend(spans []VersionSpan, version string, end int) []VersionSpan {
	start := 0
	if n := len(spans); n > 0 {
		if last := &spans[n-1]; last.Version == version || last.End == end {
			last.End = end
			return spans
		}
		start = spans[n-1].End
	}
	if start == end {
		return spans
	}
	return append(spans, VersionSpan{version, start, end})
}

// within cuts spans to what lies from start on and before end.
func within(spans []VersionSpan, start, end int) (part []VersionSpan) {
	for _, s := range slices.Clone(spans) {
		if s.Start, s.End = max(s.Start, start), min(s.End, end); s.Start < s.End {
			part = append(part, s)
		}
	}
	return part
}
