package engine

import (
	"fmt"
	"slices"
	"sync"

	"github.com/cbactor/cbactor/actors"
	"github.com/cbactor/cbactor/weights"
)

// Bounds of a version's name, and of how many may serve: their names are remembered.
const (
	maxVersionName = 256
	maxVersions    = 1 << 20
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
	ranks   map[string]uint32 // of all that ever served: places in the order in which they came
	current uint32            // rank of what is planned with
	serves  string
	kept    string // what Rollback can go back to, "": nothing
	changes int64  // times that another one began to serve
}

func newVersions() *versions {
	return &versions{names: []string{FirstVersion}, ranks: map[string]uint32{FirstVersion: 0}, serves: FirstVersion}
}

// free refuses the name of other weights that ever served: nobody could tell whose a
// token is.
func (v *versions) free(version string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, served := v.ranks[version]
	switch {
	case served:
		return fmt.Errorf("%w: %.80q serves or has served: take another name, such as with a number behind it", weights.ErrVersion, version)
	case len(version) > maxVersionName:
		return fmt.Errorf("%w: its name has %d bytes, there may be %d", weights.ErrVersion, len(version), maxVersionName)
	case len(v.ranks) >= maxVersions:
		return fmt.Errorf("%w: %d versions have served: spawn another engine", weights.ErrVersion, maxVersions)
	}
	return nil
}

// name gives an epoch its version, before anything is computed with it, and tells the
// version's rank: a new one, unless it has served before.
func (v *versions) name(epoch uint32, version string) (rank uint32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for len(v.names) < int(epoch) {
		v.names = append(v.names, version)
	}
	rank, served := v.ranks[version]
	if !served {
		rank = epoch
	}
	return rank
}

// serve notes what is planned with from now on, and what is kept.
func (v *versions) serve(rank uint32, serves, kept string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ranks[serves] = rank
	v.changes++
	v.current, v.serves, v.kept = rank, serves, kept
}

// broken notes that no version serves, and none is kept.
func (v *versions) broken() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.serves, v.kept = "", ""
}

// keep notes what is kept; "": nothing.
func (v *versions) keep(version string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.kept = version
}

// Version is the version of the weights that serve; "": they are broken, see ErrBroken.
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

// changed is how often another version began to serve.
func (v *versions) changed() int64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.changes
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
