package requests_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
)

func TestReadDone(t *testing.T) {
	whole := `{"request_id":"a","token_ids":[1],"finish_reason":"stop"}` + "\n" +
		`{"request_id":"b","finish_reason":"cancelled"}` + "\n" +
		`{"request_id":"c","finish_reason":"failed","error":"x"}` + "\n\n" +
		`{"request_id":"d","finish_reason":"length"}` + "\n"
	for name, tail := range map[string]string{
		"whole":               "",
		"torn":                `{"request_id":"e","finish_re`,
		"torn before its end": `{"request_id":"e","finish_reason":"stop"}`,
		"torn after one byte": `{`,
	} {
		done, err := requests.ReadDone(iotest.HalfReader(strings.NewReader(whole+tail)), "f")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if ids := slices.Sorted(maps.Keys(done.IDs)); !slices.Equal(ids, []string{"a", "d"}) {
			t.Errorf("%s: done are %v", name, ids)
		}
		if done.End != int64(len(whole)) {
			t.Errorf("%s: ends at %d, want %d", name, done.End, len(whole))
		}
	}
}

func TestReadDoneRefuses(t *testing.T) {
	for file, want := range map[string]string{
		"{\"request_id\":\"a\"\n{}\n":                               "f:1: not a result: unexpected end of JSON input",
		"\n{\"request_id\":\"a\"}\n":                                "f:2: not a result: it has no request_id or no finish_reason",
		"{\"finish_reason\":\"stop\"}\n":                            "f:1: not a result: it has no request_id or no finish_reason",
		"{\"request_id\":\"a\",\"finish_reason\":\"stop\"}\nno end": "f:2: not a result: it has no end and does not begin as one",
		"some text\n": "f:1: not a result: invalid character 's' looking for beginning of value",
	} {
		_, err := requests.ReadDone(strings.NewReader(file), "f")
		if !errors.Is(err, requests.ErrLine) || err.Error() != want {
			t.Errorf("%q: error is %v, want %s", file, err, want)
		}
	}
}
