package requests_test

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/text"
)

// readAll reads to the end: the requests, and the messages of the bad lines.
func readAll(t *testing.T, r io.Reader) (got []requests.Request, bad []string) {
	t.Helper()
	reader := requests.NewReader(r, "f", requests.Settings{})
	for {
		request, err := reader.Next()
		switch {
		case err == io.EOF:
			return got, bad
		case errors.Is(err, requests.ErrLine):
			bad = append(bad, err.Error())
		case err != nil:
			t.Fatal(err)
		default:
			got = append(got, request)
		}
	}
}

func TestReadFields(t *testing.T) {
	prompt, n, temp, k, p, seed, yes := "hi \"é\"", 7, 0.5, 40, 0.9, uint64(1<<64-1), true
	got, bad := readAll(t, strings.NewReader(
		`{"request_id":"a","prompt":"hi \"é\"","max_new_tokens":7,"temperature":0.5,"top_k":40,"top_p":0.9,"seed":18446744073709551615,"ignore_eos":true}`+"\n"+
			"  \r\n"+
			`{"prompt_ids":[1,2,3],"seed":null,"prompt":null,"messages":null}`+"\r\n"+
			`{"messages":[{"role":"system","content":""},{"content":"x","role":"user"}],"request_id":""}`))
	if bad != nil {
		t.Fatal(bad)
	}
	want := []requests.Request{
		{ID: "a", Prompt: texts.Prompt{Text: &prompt}, Settings: requests.Settings{MaxNewTokens: &n, Temperature: &temp, TopK: &k, TopP: &p, Seed: &seed, IgnoreEOS: &yes}},
		{ID: "line-3", Prompt: texts.Prompt{IDs: []int32{1, 2, 3}}},
		{ID: "line-4", Prompt: texts.Prompt{Messages: []text.Message{{Role: "system"}, {Role: "user", Content: "x"}}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestBadLines(t *testing.T) {
	for line, want := range map[string]string{
		`{"prompt":"a","promt":"b"}`:                              `"promt" is not known here`,
		`{"Prompt":"a"}`:                                          `"Prompt" is not known here`,
		`{"prompt":"a","prompt":"b"}`:                             `"prompt" is there twice`,
		`{"prompt":"a","pr\u006fmpt":"b"}`:                        `"prompt" is there twice`,
		`{"prompt":"a","prompt_ids":[1]}`:                         `2 of prompt, prompt_ids and messages are given, must be one`,
		`{"request_id":"a"}`:                                      `0 of prompt, prompt_ids and messages are given, must be one`,
		`{"prompt":1}`:                                            `"prompt" must be text`,
		`{"request_id":1,"prompt":"a"}`:                           `"request_id" must be text`,
		`{"prompt":"a","temperature":"0.5"}`:                      `"temperature" must be a number from 0 to 2`,
		`{"prompt":"a","temperature":1e999}`:                      `"temperature" must be a number from 0 to 2`,
		`{"prompt":"a","temperature":NaN}`:                        `the value of "temperature" is no JSON`,
		`{"prompt":"a","max_new_tokens":1.5}`:                     `"max_new_tokens" must be a whole number from 1 up`,
		`{"prompt":"a","max_new_tokens":99999999999999999999}`:    `"max_new_tokens" must be a whole number from 1 up`,
		`{"prompt":"a","max_new_tokens":0}`:                       `"max_new_tokens" must be a whole number from 1 up`,
		`{"prompt":"a","seed":-1}`:                                `"seed" must be a whole number from 0 to 18446744073709551615`,
		`{"prompt":"a","ignore_eos":1}`:                           `"ignore_eos" must be true or false`,
		`{"prompt_ids":[1,null]}`:                                 `"prompt_ids" must be a list of token ids`,
		`{"prompt_ids":[2147483648]}`:                             `"prompt_ids" must be a list of token ids`,
		`{"prompt_ids":{"a":1}}`:                                  `"prompt_ids" must be a list of token ids`,
		`{"messages":[]}`:                                         `messages is empty, must have one or more`,
		`{"messages":["a"]}`:                                      `"messages" must be a list of messages, each with the texts role and content`,
		`{"messages":[{"role":"user"}]}`:                          `"messages" must be a list of messages, each with the texts role and content`,
		`{"messages":[{"role":"user","content":"a","name":"b"}]}`: `"name" is not known here`,
		`{"prompt":"a"`:                                           `the JSON ends early`,
		`{"prompt":`:                                              `the JSON ends early`,
		`{"prompt":"a",}`:                                         `it is no JSON`,
		`{prompt:"a"}`:                                            `it is no JSON`,
		`{"prompt":"a"} {}`:                                       `something follows the closing }`,
		`{"prompt":"a"}}`:                                         `something follows the closing }`,
		`["prompt"]`:                                              `wrong type: must be an object in { }`,
		`null`:                                                    `wrong type: must be an object in { }`,
		`prompt`:                                                  `wrong type: must be an object in { }`,
	} {
		got, bad := readAll(t, strings.NewReader("\n"+line+"\n"+`{"prompt":"next"}`))
		if len(bad) != 1 || bad[0] != "f:2: "+want {
			t.Errorf("%s: %q, want %q", line, bad, want)
		}
		if len(got) != 1 || got[0].ID != "line-3" {
			t.Errorf("%s: the next line is %+v", line, got)
		}
	}
}

func TestBadLineKeepsItsID(t *testing.T) {
	_, err := requests.NewReader(strings.NewReader(`{"request_id":"a","top":1}`), "f", requests.Settings{}).Next()
	var bad *requests.LineError
	if !errors.As(err, &bad) || bad.ID != "a" {
		t.Errorf("error is %+v", err)
	}
}

func TestLongLines(t *testing.T) {
	long := `{"prompt":"` + strings.Repeat("a", 200_000) + `"}`
	tooLong := `{"prompt":"` + strings.Repeat("a", 16<<20) + `"}`
	file := long + "\n" + tooLong + "\n" + `{"prompt":"b"}` + "\n" + tooLong
	got, bad := readAll(t, strings.NewReader(file))
	if len(got) != 2 || len(*got[0].Prompt.Text) != 200_000 || got[1].ID != "line-3" {
		t.Errorf("read %d requests", len(got))
	}
	want := []string{"f:2: the line is too long: at most 16 MiB are read", "f:4: the line is too long: at most 16 MiB are read"}
	if !reflect.DeepEqual(bad, want) {
		t.Errorf("bad lines are %q", bad)
	}
	if n, err := requests.Count(strings.NewReader(file)); n != 4 || err != nil {
		t.Errorf("counted %d, %v", n, err)
	}
}

func TestCount(t *testing.T) {
	for file, want := range map[string]int{"": 0, "\n": 0, "a": 1, "a\n": 1, "a\n \nb": 2, "a\r\n\r\nb\r\n": 2} {
		if n, err := requests.Count(iotest.OneByteReader(strings.NewReader(file))); n != want || err != nil {
			t.Errorf("%q: %d, %v, want %d", file, n, err, want)
		}
	}
}

func TestReadErrorsAreNotTheLines(t *testing.T) {
	broken := io.MultiReader(strings.NewReader(`{"prompt":"a"}`+"\n"+`{"pro`), iotest.ErrReader(errors.New("disk on fire")))
	reader := requests.NewReader(broken, "f", requests.Settings{})
	if _, err := reader.Next(); err != nil {
		t.Fatal(err)
	}
	_, err := reader.Next()
	if err == nil || errors.Is(err, requests.ErrLine) || err.Error() != "read f: disk on fire" {
		t.Errorf("error is %v", err)
	}
}

func FuzzReader(f *testing.F) {
	f.Add(`{"request_id":"a","prompt":"hi","max_new_tokens":7,"temperature":0.5}`)
	f.Add(`{"prompt_ids":[1,2],"seed":3}` + "\n" + `{"messages":[{"role":"user","content":"x"}]}`)
	f.Add("{\"a\":\n[[[[")
	f.Fuzz(func(t *testing.T, file string) {
		got, bad := readAll(t, strings.NewReader(file))
		count, err := requests.Count(strings.NewReader(file))
		if err != nil || count != len(got)+len(bad) {
			t.Errorf("%d requests and %d bad lines, counted %d, %v", len(got), len(bad), count, err)
		}
		for _, r := range got {
			given := 0
			for _, is := range []bool{r.Prompt.Text != nil, r.Prompt.IDs != nil, r.Prompt.Messages != nil} {
				if is {
					given++
				}
			}
			if r.ID == "" || given != 1 {
				t.Errorf("request %+v", r)
			}
		}
	})
}
