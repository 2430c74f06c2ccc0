package gateway

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/messages"
)

// manifest is an update of which a part has come.
type manifest struct {
	options engine.UpdateOptions
	bytes   int
}

// Bounds of a manifest that comes in parts.
const (
	maxEntries       = 1 << 20
	maxManifestBytes = 64 << 20
)

// collect adds a part to the manifest of an update, and gives the whole with the last. A part
// of another update than the one before begins anew.
func (g *guest) collect(m *messages.BeginUpdate) (o engine.UpdateOptions, more bool, err error) {
	before := g.manifest
	g.manifest = nil // an error ends it
	part, err := convert.ManifestOf(m.GetManifest())
	if err != nil {
		return o, false, err
	}
	kv, err := convert.KVOf(m.GetKv())
	if err != nil {
		return o, false, err
	}
	o = engine.UpdateOptions{Base: m.GetBase(), Version: m.GetVersion(), KV: kv, Manifest: part}
	now := &manifest{options: o, bytes: proto.Size(m)}
	if before != nil && before.options.Base == o.Base && before.options.Version == o.Version {
		now.bytes += before.bytes
		now.options.Manifest.Tensors = append(before.options.Manifest.Tensors, part.Tensors...)
	}
	if n := len(now.options.Manifest.Tensors); n > maxEntries || now.bytes > maxManifestBytes {
		return o, false, fmt.Errorf("%w: a manifest of %d tensors and %d bytes, there may be %d and %d", convert.ErrLimit, n, now.bytes, maxEntries, maxManifestBytes)
	}
	if m.GetManifest().GetMore() {
		g.manifest = now
		return o, true, nil
	}
	return now.options, false, nil
}
