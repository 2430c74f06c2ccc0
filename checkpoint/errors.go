package checkpoint

import "errors"

var (
	// ErrFormat means that a file is damaged or not of the format it should have.
	// What is whole but not implemented wraps model.ErrUnsupported instead.
	ErrFormat = errors.New("invalid model file")
	// ErrSent means that a Stream of bytes that come once is to be sent a second time.
	ErrSent = errors.New("the bytes were read already")
	// ErrNotFound means that there is no model at a path.
	ErrNotFound = errors.New("no model there")
	// ErrAsset means that a model known by name was not fetched yet.
	ErrAsset = errors.New("model is not in the cache, run `make assets`")
	// ErrNotPulled means that there is no path, and no whole copy of a model of a hub, of a
	// name.
	ErrNotPulled = errors.New("no folder, no file, and no model that was pulled")
)
