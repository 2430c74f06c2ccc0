package requests_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
)

// Of lines with one id all but the first are bad, whatever else is wrong with them,
// and go by the name of their line.
func TestIDsOfAFileDiffer(t *testing.T) {
	const file = `{"request_id":"a","prompt":"x"}
{"prompt":"x"}
{"request_id":"line-2","prompt":"x"}
{"request_id":"line-4","prompt":"x"}
{"request_id":"line-6","prompt":"x"}
{"prompt":"x"}
{"request_id":"a","prompt":"y"}
{"request_id":"b","promt":"x"}
{"request_id":"b","prompt":"x"}
{"request_id":"line-03","prompt":"x"}
{"request_id":"line-x","prompt":"x"}
{"request_id":"a"}
`
	got, bad := readAll(t, strings.NewReader(file))
	var ids []string
	for _, r := range got {
		ids = append(ids, r.ID)
	}
	if want := []string{"a", "line-2", "line-4", "line-6", "line-03", "line-x"}; !slices.Equal(ids, want) {
		t.Errorf("ids %q, want %q", ids, want)
	}
	want := []string{
		`f:3: the request_id is taken: "line-2" is kept for line 2`,
		`f:5: the request_id is taken: "line-6" is kept for line 6`,
		`f:7: the request_id is taken: "a" is that of line 1`,
		`f:8: "promt" is not known here`,
		`f:9: the request_id is taken: "b" is that of line 8`,
		`f:12: 0 of prompt, prompt_ids and messages are given, must be one`,
	}
	if !slices.Equal(bad, want) {
		t.Errorf("bad lines %q, want %q", bad, want)
	}
}

// The result of a line with a taken id must not pass for the result of the other.
func TestTakenIDIsNotPassedOn(t *testing.T) {
	reader := requests.NewReader(strings.NewReader(`{"request_id":"a","prompt":"x"}`+"\n"+`{"request_id":"a","prompt":"y"}`), "f", requests.Settings{})
	if _, err := reader.Next(); err != nil {
		t.Fatal(err)
	}
	_, err := reader.Next()
	var bad *requests.LineError
	if !errors.As(err, &bad) || !errors.Is(err, requests.ErrTaken) || bad.ID != "line-2" {
		t.Errorf("error is %+v", err)
	}
}

// The sequences of a request have ids, too.
func TestIDsOfSequencesDiffer(t *testing.T) {
	_, bad := readAll(t, strings.NewReader(`{"request_id":"a","prompt":"x","n":3}
{"request_id":"a/2","prompt":"x"}
{"prompt":"x","n":2}
{"request_id":"line-3/1","prompt":"x"}
{"request_id":"b/1","prompt":"x"}
{"request_id":"b","prompt":"x","n":2}
{"request_id":"a/3","prompt":"x"}
`))
	want := []string{
		`f:2: the request_id is taken: "a/2" is that of line 1`,
		`f:4: the request_id is taken: "line-3/1" is that of line 3`,
		`f:6: the request_id is taken: "b/1" is that of line 5`,
	}
	if !slices.Equal(bad, want) {
		t.Errorf("bad lines %q, want %q", bad, want)
	}
}
