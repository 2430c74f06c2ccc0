package requests

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
)

// maxResult bounds a line of results, which has the prompt as ids and as much
// again as was generated.
const maxResult = 4 * maxLine

// Done is what a file of results has. The zero value has nothing.
type Done struct {
	End int64 // bytes up to the end of the last whole line

	file    string
	seed    maphash.Seed
	prompts map[string]uint64 // a hash of the prompt of each request that need not run again
}

// ReadDone reads a file of results. The last result of a request counts, and one
// that was cancelled, ran out of time, was aborted, became stale or failed is not done. A last line without an end was torn and
// does not count; any other bad line is a *LineError. file names it in errors.
func ReadDone(r io.Reader, file string) (Done, error) {
	done := Done{file: file, seed: maphash.MakeSeed(), prompts: map[string]uint64{}}
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

// errNoResult says what every line of results has.
var errNoResult = errors.New("it is no object of JSON with request_id, prompt_ids and finish_reason")

func (d *Done) add(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	var result struct {
		ID     string  `json:"request_id"`
		Prompt []int32 `json:"prompt_ids"`
		Reason string  `json:"finish_reason"`
	}
	if err := json.Unmarshal(line, &result); err != nil {
		return errNoResult
	}
	if result.ID == "" || result.Prompt == nil || result.Reason == "" {
		return errNoResult
	}
	switch result.Reason {
	case "cancelled", "deadline", "aborted", "stale", "failed":
		delete(d.prompts, result.ID)
	default:
		d.prompts[result.ID] = d.hash(result.Prompt)
	}
	return nil
}

// Has says whether a request is done. The error wraps ErrOtherPrompt when the
// result is there and is of another prompt.
func (d *Done) Has(id string, prompt []int32) (bool, error) {
	h, done := d.prompts[id]
	if done && h != d.hash(prompt) {
		return false, fmt.Errorf("%w: %.80q in %s: give it another request_id, or another file to --resume", ErrOtherPrompt, id, d.file)
	}
	return done, nil
}

// hash is a hash of the ids of a prompt. Only this process knows it.
func (d *Done) hash(ids []int32) uint64 {
	b := make([]byte, 0, 4*len(ids))
	for _, id := range ids {
		b = binary.LittleEndian.AppendUint32(b, uint32(id))
	}
	return maphash.Bytes(d.seed, b)
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
