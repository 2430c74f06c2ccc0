package convert

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/messages"
)

// Status is what an engine does.
func Status(s engine.Status) *messages.Status {
	return &messages.Status{Mode: s.Mode, Holders: uint32(s.Holders), Asleep: uint32(s.Asleep)}
}

// StatusOf reads it.
func StatusOf(m *messages.Status) (engine.Status, error) {
	part, err := PartOf(m.GetAsleep())
	if err != nil || m.GetHolders() > maxTokens {
		return engine.Status{}, malformed("of %d holders and parts %d asleep", m.GetHolders(), m.GetAsleep())
	}
	return engine.Status{Mode: m.GetMode(), Holders: int(m.GetHolders()), Asleep: part}, nil
}

// PartOf reads parts of an engine's memory, or none.
func PartOf(parts uint32) (engine.Part, error) {
	if parts > uint32(engine.KV|engine.Weights) {
		return 0, refused("parts are %d, must be 1 for the cache, 2 for the weights, or 3", parts)
	}
	return engine.Part(parts), nil
}

// Pause is how to pause.
func Pause(o engine.PauseOptions) *messages.Pause {
	return &messages.Pause{Mode: uint32(o.Mode), Refuse: o.Refuse, LeaseNs: int64(o.Lease)}
}

// PauseOf reads it.
func PauseOf(m *messages.Pause) (engine.PauseOptions, error) {
	if m.GetMode() > uint32(engine.PauseAbort) {
		return engine.PauseOptions{}, refused("the mode of a pause is %d, must be from 0 to %d", m.GetMode(), engine.PauseAbort)
	}
	return engine.PauseOptions{Mode: engine.PauseMode(m.GetMode()), Refuse: m.GetRefuse(), Lease: time.Duration(m.GetLeaseNs())}, nil
}

// Adapters are those that requests may name.
func Adapters(list []engine.Adapter) []*messages.AdapterInfo {
	var out []*messages.AdapterInfo
	for _, a := range list {
		out = append(out, &messages.AdapterInfo{Name: a.Name, Rank: int32(a.Rank), Modules: a.Modules})
	}
	return out
}

// AdaptersOf reads them.
func AdaptersOf(list []*messages.AdapterInfo) []engine.Adapter {
	var out []engine.Adapter
	for _, a := range list {
		out = append(out, engine.Adapter{Name: a.GetName(), Rank: int(a.GetRank()), Modules: a.GetModules()})
	}
	return out
}

// Info is an engine's configuration.
func Info(info engine.Info) ([]byte, error) {
	text, err := json.Marshal(info)
	if err != nil {
		return nil, fmt.Errorf("the engine's configuration: %w", err)
	}
	return text, nil
}

// InfoOf reads it.
func InfoOf(text []byte) (info engine.Info, err error) {
	if err := json.Unmarshal(text, &info); err != nil {
		return info, malformed("the engine's configuration: %v", err)
	}
	return info, nil
}
