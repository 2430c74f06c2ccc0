package requests_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
)

func TestReadDone(t *testing.T) {
	whole := `{"request_id":"a","prompt_ids":[1,2],"token_ids":[1],"finish_reason":"stop"}` + "\n" +
		`{"request_id":"b","prompt_ids":[3],"finish_reason":"cancelled"}` + "\n" +
		`{"request_id":"c","prompt_ids":[],"finish_reason":"failed","error":"x"}` + "\n\n" +
		`{"request_id":"d","prompt_ids":[4],"finish_reason":"length"}` + "\n" +
		`{"request_id":"c","prompt_ids":[5],"finish_reason":"stop"}` + "\n" + // tried again
		`{"request_id":"d","prompt_ids":[],"finish_reason":"failed"}` + "\n" +
		`{"request_id":"f","prompt_ids":[7],"finish_reason":"deadline"}` + "\n" +
		`{"request_id":"g","prompt_ids":[8],"finish_reason":"aborted"}` + "\n" +
		`{"request_id":"h","prompt_ids":[9],"finish_reason":"stale"}` + "\n"
	for name, tail := range map[string]string{
		"whole":               "",
		"torn":                `{"request_id":"e","finish_re`,
		"torn before its end": `{"request_id":"e","prompt_ids":[6],"finish_reason":"stop"}`,
		"torn after one byte": `{`,
	} {
		done, err := requests.ReadDone(iotest.HalfReader(strings.NewReader(whole+tail)), "f")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for id, want := range map[string]bool{"a": true, "b": false, "c": true, "d": false, "e": false, "f": false, "g": false, "h": false} {
			prompt := map[string][]int32{"a": {1, 2}, "b": {3}, "c": {5}, "d": {4}, "e": {6}, "f": {7}, "g": {8}, "h": {9}}[id]
			if has, err := done.Has(id, prompt); has != want || err != nil {
				t.Errorf("%s: %s is done: %t, %v, want %t", name, id, has, err, want)
			}
		}
		for _, other := range [][]int32{nil, {1}, {2, 1}, {1, 2, 3}} {
			if _, err := done.Has("a", other); !errors.Is(err, requests.ErrOtherPrompt) {
				t.Errorf("%s: the prompt %v is taken for that of a: %v", name, other, err)
			}
		}
		if done.End != int64(len(whole)) {
			t.Errorf("%s: ends at %d, want %d", name, done.End, len(whole))
		}
	}
}

func TestNothingIsDone(t *testing.T) {
	var none requests.Done
	if has, err := none.Has("a", []int32{1}); has || err != nil {
		t.Errorf("%t, %v", has, err)
	}
}

func TestReadDoneRefuses(t *testing.T) {
	const lacks = "not a result: it is no object of JSON with request_id, prompt_ids and finish_reason"
	for file, want := range map[string]string{
		"{\"request_id\":\"a\"\n{}\n":                                                 "f:1: " + lacks,
		"\n{\"request_id\":\"a\",\"prompt_ids\":[1]}\n":                               "f:2: " + lacks,
		"{\"prompt_ids\":[1],\"finish_reason\":\"stop\"}\n":                           "f:1: " + lacks,
		"{\"request_id\":\"a\",\"finish_reason\":\"stop\"}\n":                         "f:1: " + lacks,
		"{\"request_id\":\"a\",\"prompt_ids\":[],\"finish_reason\":\"stop\"}\nno end": "f:2: not a result: it has no end and does not begin as one",
		"some text\n": "f:1: " + lacks,
	} {
		_, err := requests.ReadDone(strings.NewReader(file), "f")
		if !errors.Is(err, requests.ErrLine) || err.Error() != want {
			t.Errorf("%q: error is %v, want %s", file, err, want)
		}
	}
}

// A file of results is made, cut to its last whole line, and appended to wherever
// another writer has brought its end.
func TestOpenResults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	const line = `{"request_id":"a","prompt_ids":[1],"finish_reason":"stop"}` + "\n"
	for _, before := range []string{"", line, line + `{"request_id":`} {
		if before != "" {
			if err := os.WriteFile(path, []byte(before), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		file, done, err := requests.OpenResults(path)
		if err != nil {
			t.Fatal(err)
		}
		if has, err := done.Has("a", []int32{1}); has != (before != "") || err != nil {
			t.Errorf("%q: a is done: %t, %v", before, has, err)
		}
		if before != "" {
			if err := os.WriteFile(path, []byte(line+line), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := file.WriteString("new\n"); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		want := "new\n"
		if before != "" {
			want = line + line + want
		}
		if got, err := os.ReadFile(path); string(got) != want || err != nil {
			t.Errorf("%q: the file has %q, %v", before, got, err)
		}
	}
}

func TestOneWriterOfResults(t *testing.T) {
	if runtime.GOOS == "aix" || runtime.GOOS == "solaris" {
		t.Skip("no locks here")
	}
	path := filepath.Join(t.TempDir(), "out")
	first, _, err := requests.OpenResults(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := requests.OpenResults(path); !errors.Is(err, requests.ErrLocked) {
		t.Errorf("a second writer gets %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, _, err := requests.OpenResults(path)
	if err != nil {
		t.Fatalf("after the end of the first: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOpenResultsRefuses(t *testing.T) {
	if _, _, err := requests.OpenResults(filepath.Join(t.TempDir(), "none", "out")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
	if _, _, err := requests.OpenResults(t.TempDir()); err == nil {
		t.Error("a folder is taken")
	}
}
