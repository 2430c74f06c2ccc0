package server

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/weights"
)

// maxLabels bounds how many versions of a model have a label. The oldest are forgotten: they
// are called by their own name then.
const maxLabels = 4096

// labels are what trainers call versions of the weights. An engine takes a version's name
// once; trainers use theirs again, and rename what serves.
type labels struct {
	mu    sync.Mutex
	shown map[string]string // by version
	order []string          // of the versions in shown that serve or have served, the oldest first
	tried map[string]int    // by label: what the last version was numbered that was to have it, as an engine remembers all names
}

// set lets a version that serves be called by a label.
func (l *labels) set(version, label string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.show(version, label)
	l.enter(version)
}

// show is called with mu.
func (l *labels) show(version, label string) {
	if l.shown == nil {
		l.shown = map[string]string{}
	}
	l.shown[version] = label
}

// enter has a version be found by its label, and forgets the oldest one if there are too many.
// It is called with mu.
func (l *labels) enter(version string) {
	if slices.Contains(l.order, version) {
		return
	}
	if l.order = append(l.order, version); len(l.order) > maxLabels {
		delete(l.shown, l.order[0])
		l.order = l.order[1:]
	}
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
// given out before, or is taken, with ~2 behind it, ~3 and so on. It is called so from then on,
// but not found by its label before it serves.
func (l *labels) next(label string, taken ...string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tried == nil {
		l.tried = map[string]int{}
	}
	for {
		l.tried[label]++
		version := label
		if n := l.tried[label]; n > 1 {
			version = fmt.Sprintf("%s~%d", label, n)
		}
		if !slices.Contains(taken, version) {
			l.show(version, label)
			return version
		}
	}
}

// settle notes how the load of a version of next has ended. The name of one that failed is not
// given out again where it may be the reason.
func (l *labels) settle(version string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err == nil:
		l.enter(version)
	case !slices.Contains(l.order, version):
		if l.tried[version] == 1 && !errors.Is(err, weights.ErrVersion) { // the label itself
			delete(l.tried, version)
		}
		delete(l.shown, version)
	}
}

// label is what clients are told that a version of the model's weights is called.
func (m *Model) label(version string) string {
	if m.trainer == nil { // not one of a Server's
		return version
	}
	return m.trainer.labels.of(version)
}

// version is the version of the model's weights that clients call by a label: the one that
// serves if it is called so, else the newest.
func (m *Model) version(label string) string {
	if m.trainer == nil || label == "" {
		return label
	}
	if serves := m.Engine.Version(); serves == label || m.label(serves) == label {
		return serves
	}
	return m.trainer.labels.version(label)
}

// labelled runs load with a name for weights that are to be called by a label, or, numbered, by
// that name itself.
func (m *Model) labelled(label string, numbered bool, load func(version string) error) error {
	l := &m.trainer.labels
	version := l.next(label, engine.FirstVersion, m.Engine.Version(), m.Engine.Kept())
	if numbered {
		l.mu.Lock()
		l.show(version, version)
		l.mu.Unlock()
	}
	err := load(version)
	l.settle(version, err)
	return err
}
