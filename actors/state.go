package actors

import "github.com/cbactor/cbactor/messages"

// State is what a System does, as its supervisor has it.
type State struct {
	Mode        string // running, pausing, paused, sleeping, draining, halting or stopped
	Holders     int    // of the pause
	KV, Weights bool   // asleep
}

// publish lets others see what is in force.
func (a *supervisor) publish() {
	s := &State{KV: a.asleep.kv, Weights: a.asleep.weights, Holders: a.holders.count()}
	switch {
	case a.session == messages.Mode_MODE_HALTING:
		s.Mode = "halting"
	case a.session == messages.Mode_MODE_STOPPED:
		s.Mode = "stopped"
	case a.asleep.any():
		s.Mode = "sleeping"
	case a.still:
		s.Mode = "paused"
	case len(a.holders) > 0:
		s.Mode = "pausing"
	case a.session == messages.Mode_MODE_DRAINING:
		s.Mode = "draining"
	default:
		s.Mode = "running"
	}
	a.state.Store(s)
}

// State is what the System does now.
func (s *System) State() State { return *s.state.Load() }
