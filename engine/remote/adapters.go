package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"unicode/utf8"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/messages"
)

// LoadAdapter is engine.Engine.LoadAdapter, of a folder here: its two files are sent.
func (c *Client) LoadAdapter(ctx context.Context, name string, folder fs.FS) error {
	if !utf8.ValidString(name) || len(name) > 1<<10 { // what the engine would say, if it could be sent
		return fmt.Errorf("%w: %.40q, must be printable and short", engine.ErrAdapterName, name)
	}
	f := c.newFlow(0)
	for _, file := range convert.AdapterFiles {
		if err := sendFile(ctx, f, name, folder, file); err != nil {
			return fmt.Errorf("adapter %q: %w", name, err)
		}
	}
	if err := f.wait(ctx); err != nil {
		return err
	}
	return c.do(ctx, &messages.Call{What: &messages.Call_LoadAdapter{LoadAdapter: &messages.LoadAdapter{Name: name}}})
}

// sendFile sends a file in parts.
func sendFile(ctx context.Context, to *flow, adapter string, folder fs.FS, name string) (err error) {
	file, err := folder.Open(name)
	if err != nil {
		return fmt.Errorf("%w: %w", engine.ErrAdapter, err)
	}
	defer func() {
		if wrong := file.Close(); err == nil && wrong != nil {
			err = fmt.Errorf("%w: %w", engine.ErrAdapter, wrong)
		}
	}()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("%w: %w", engine.ErrAdapter, err)
	}
	size := info.Size()
	for offset := int64(0); offset < size || offset == 0; {
		part := make([]byte, min(size-offset, int64(to.client.link.said.Load().chunk)))
		if _, err := io.ReadFull(file, part); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = fmt.Errorf("%s has become shorter: %w", name, err)
			}
			return fmt.Errorf("%w: %w", engine.ErrAdapter, err)
		}
		m := &messages.AdapterFile{Name: adapter, File: name, Size: uint64(size), Offset: uint64(offset), Data: part}
		if err := to.put(ctx, &messages.Call{What: &messages.Call_AdapterFile{AdapterFile: m}}); err != nil {
			return err
		}
		if offset += int64(len(part)); size == 0 {
			return nil
		}
	}
	return nil
}

// UnloadAdapter is engine.Engine.UnloadAdapter.
func (c *Client) UnloadAdapter(ctx context.Context, name string) error {
	return c.do(ctx, &messages.Call{What: &messages.Call_UnloadAdapter{UnloadAdapter: &messages.UnloadAdapter{Name: name}}})
}
