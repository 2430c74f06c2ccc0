package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxResult bounds a line of results, which has the prompt as ids and as much
// again as was generated.
const maxResult = 4 * maxLine

// Done is what a file of results has.
type Done struct {
	IDs map[string]struct{} // requests that need not run again
	End int64               // bytes up to the end of the last whole line
}

// ReadDone reads a file of results. Requests that were cancelled or failed are not
// done. A last line without an end was torn and does not count; any other bad
// line is a *LineError. file names it in errors.
func ReadDone(r io.Reader, file string) (Done, error) {
	done := Done{IDs: map[string]struct{}{}}
	counted := &counter{r: r}
	l := newLines(counted, maxResult)
	for {
		line, whole, err := l.next()
		switch {
		case err == io.EOF, err == nil && !whole && torn(line):
			return done, nil
		case err == nil && !whole:
			err = errors.New("it has no end and does not begin as one")
		case err == nil:
			err = done.add(line)
		case !errors.Is(err, ErrTooLong):
			return done, fmt.Errorf("read %s: %w", file, err)
		}
		if err != nil {
			return done, &LineError{File: file, Line: l.number, Err: fmt.Errorf("not a result: %w", err)}
		}
		done.End = counted.n - int64(l.r.Buffered())
	}
}

// torn says whether the rest of a file may be the begin of a result. Anything else
// is of a file that was never ours, and must not be cut off.
func torn(rest []byte) bool {
	const begin = `{"request_id":`
	n := min(len(rest), len(begin))
	return string(rest[:n]) == begin[:n]
}

func (d *Done) add(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var result struct {
		ID     string `json:"request_id"`
		Reason string `json:"finish_reason"`
	}
	if err := json.Unmarshal(line, &result); err != nil {
		return err
	}
	if result.ID == "" || result.Reason == "" {
		return errors.New("it has no request_id or no finish_reason")
	}
	if result.Reason != "cancelled" && result.Reason != "failed" {
		d.IDs[result.ID] = struct{}{}
	}
	return nil
}

// counter counts the bytes read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
