package server

import (
	"fmt"
	"slices"
	"sync"

	"github.com/cbactor/cbactor/engine"
)

// maxLabels bounds how many versions of a model have a label. The oldest are forgotten: they
// are called by their own name then.
const maxLabels = 4096

// labels are what trainers call versions of the weights. An engine takes a version's name
// once; trainers use theirs again, and rename what serves.
type labels struct {
	mu    sync.Mutex
	shown map[string]string // by version
	order []string          // of the versions in shown, the oldest first
	tried map[string]int    // by label: what the last version was numbered that was to have it
}

// set lets a version be called by a label.
func (l *labels) set(version, label string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.shown[version]; !known {
		if l.shown == nil {
			l.shown, l.tried = map[string]string{}, map[string]int{}
		}
		if l.order = append(l.order, version); len(l.order) > maxLabels {
			delete(l.tried, l.shown[l.order[0]]) // its numbers are tried again from 1 on
			delete(l.shown, l.order[0])
			l.order = l.order[1:]
		}
	}
	l.shown[version] = label
}

// of is what a version is called.
func (l *labels) of(version string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if label, ok := l.shown[version]; ok {
		return label
	}
	return version
}

// version is the newest one that is called by a label; what is none is a version's own name.
func (l *labels) version(label string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range slices.Backward(l.order) {
		if l.shown[v] == label {
			return v
		}
	}
	return label
}

// next is a name for a version that is to be called by a label: the label, and if that was
// given out before, or is taken, with ~2 behind it, ~3 and so on.
func (l *labels) next(label string, taken ...string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tried == nil {
		l.shown, l.tried = map[string]string{}, map[string]int{}
	}
	for {
		l.tried[label]++
		version := label
		if n := l.tried[label]; n > 1 {
			version = fmt.Sprintf("%s~%d", label, n)
		}
		if !slices.Contains(taken, version) {
			return version
		}
	}
}

// label is what clients are told that a version of the model's weights is called.
func (m *Model) label(version string) string {
	if m.trainer == nil { // not one of a Server's
		return version
	}
	return m.trainer.labels.of(version)
}

// version is the version of the model's weights that clients call by a label.
func (m *Model) version(label string) string {
	if m.trainer == nil {
		return label
	}
	return m.trainer.labels.version(label)
}

// versionFor is a name for new weights that are to be called by a label, or, numbered, by that
// name itself.
func (m *Model) versionFor(label string, numbered bool) string {
	l := &m.trainer.labels
	version := l.next(label, engine.FirstVersion, m.Engine.Version(), m.Engine.Kept())
	if !numbered {
		l.set(version, label)
	}
	return version
}
