package gateway

import (
	"context"
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/messages"
)

// maxAdapters bounds how many adapters a guest may be sending.
const maxAdapters = 64

// adapterFile takes bytes of a file, in order. From offset 0 on it is begun again.
func (g *guest) adapterFile(c *call, m *messages.AdapterFile) error {
	if !slices.Contains(convert.AdapterFiles, m.GetFile()) {
		return fmt.Errorf("%w: %.80q is no file of an adapter", engine.ErrAdapter, m.GetFile())
	}
	if limit := g.options.Limits.Adapters; m.GetSize() > uint64(limit) || g.fileBytes+int64(len(m.GetData()))+pieceBytes > limit {
		return fmt.Errorf("%w: files of adapters have more than %d bytes", convert.ErrLimit, limit)
	}
	f, err := g.file(m)
	if err != nil {
		return err
	}
	end := uint64(f.have) + uint64(len(m.GetData()))
	if m.GetOffset() != uint64(f.have) || end > uint64(f.size) {
		return fmt.Errorf("%w: %d bytes of %s from %d on, %d of %d have come: send it in order", engine.ErrAdapter, len(m.GetData()), m.GetFile(), m.GetOffset(), f.have, f.size)
	}
	g.fileBytes -= f.bytes()
	f.add(m.GetData())
	g.fileBytes += f.bytes()
	g.answer(c, nil, nil)
	return nil
}

// file is the file that bytes are for. The first bytes make it.
func (g *guest) file(m *messages.AdapterFile) (*file, error) {
	d := g.adapters[m.GetName()]
	if d == nil {
		if len(g.adapters) >= maxAdapters {
			return nil, fmt.Errorf("%w: %d adapters were sent in part: load one", convert.ErrLimit, len(g.adapters))
		}
		d = &folder{files: map[string]*file{}}
		g.adapters[m.GetName()] = d
	}
	f := d.files[m.GetFile()]
	if f == nil || m.GetOffset() == 0 {
		if f != nil {
			g.fileBytes -= f.bytes()
		}
		f = &file{name: m.GetFile(), size: int64(m.GetSize())}
		d.files[f.name] = f
	}
	return f, nil
}

// loadAdapter loads an adapter from the files that have come, which are forgotten then.
func (g *guest) loadAdapter(c *call, m *messages.LoadAdapter) error {
	f := g.adapters[m.GetName()]
	if f == nil {
		f = &folder{}
	}
	delete(g.adapters, m.GetName())
	g.fileBytes -= f.bytes()
	if err := f.check(); err != nil {
		return err
	}
	return g.plain(c, func(ctx context.Context) error { return g.engine.LoadAdapter(ctx, m.GetName(), f) })
}

func (g *guest) unloadAdapter(c *call, m *messages.UnloadAdapter) error {
	return g.plain(c, func(ctx context.Context) error { return g.engine.UnloadAdapter(ctx, m.GetName()) })
}
