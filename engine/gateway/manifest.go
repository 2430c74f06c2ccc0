package gateway

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/messages"
)

// manifest is an update of which parts have come.
type manifest struct {
	options engine.UpdateOptions
	bytes   int
	parts   uint32
}

// Bounds of a manifest that comes in parts.
const (
	maxEntries       = 1 << 20
	maxManifestBytes = 64 << 20
)

// readUpdate reads a part of an update. It may be used on any goroutine.
func readUpdate(m *messages.BeginUpdate) (*manifest, error) {
	part, err := convert.ManifestOf(m.GetManifest())
	if err != nil {
		return nil, err
	}
	kv, err := convert.KVOf(m.GetKv())
	if err != nil {
		return nil, err
	}
	o := engine.UpdateOptions{Base: m.GetBase(), Version: m.GetVersion(), KV: kv, Manifest: part}
	return &manifest{options: o, bytes: proto.Size(m), parts: m.GetManifest().GetPart() + 1}, nil
}

// collect adds a part to the manifest of an update, and gives the whole with the last one. Any
// error ends it.
func (g *guest) collect(now *manifest, more bool) (whole *engine.UpdateOptions, err error) {
	before := g.manifest
	g.manifest = nil
	if now.parts > 1 {
		if before == nil || before.parts != now.parts-1 || before.options.Base != now.options.Base || before.options.Version != now.options.Version {
			return nil, fmt.Errorf("%w: part %d of a manifest of which part %d did not come before", engine.ErrParams, now.parts-1, now.parts-2)
		}
		now.bytes += before.bytes
		now.options.Manifest.Tensors = append(before.options.Manifest.Tensors, now.options.Manifest.Tensors...)
	}
	if n := len(now.options.Manifest.Tensors); n > maxEntries || now.bytes > maxManifestBytes {
		return nil, fmt.Errorf("%w: a manifest of %d tensors and %d bytes, there may be %d and %d", convert.ErrLimit, n, now.bytes, maxEntries, maxManifestBytes)
	}
	if more {
		g.manifest = now
		return nil, nil
	}
	return &now.options, nil
}
