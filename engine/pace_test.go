package engine

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A large chunk is put in pieces, with a rest behind each, and ends with the first error.
func TestAChunkIsPutInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := make([]byte, 2*piece+5)
		for i := range data {
			data[i] = byte(i / 1000)
		}
		var got []byte
		began := time.Now()
		put := func(offset int, part []byte) (time.Duration, error) {
			if offset != 7+len(got) || len(part) > piece {
				t.Errorf("%d bytes at %d behind %d", len(part), offset, len(got))
			}
			got = append(got, part...)
			return time.Second, nil
		}
		if err := inPieces(7, data, put); err != nil || !bytes.Equal(got, data) || time.Since(began) != 3*time.Second {
			t.Errorf("%d bytes after %v: %v", len(got), time.Since(began), err)
		}
		calls, wrong := 0, errors.New("wrong")
		err := inPieces(0, data, func(int, []byte) (time.Duration, error) { calls++; return 0, wrong })
		if calls != 1 || !errors.Is(err, wrong) {
			t.Errorf("%d calls: %v", calls, err)
		}
		if err := inPieces(0, nil, func(int, []byte) (time.Duration, error) { calls++; return 0, wrong }); calls != 2 || !errors.Is(err, wrong) {
			t.Errorf("nothing to put is not put: %v", err)
		}
	})
}
