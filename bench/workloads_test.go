package bench_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/bench"
)

func TestDefault(t *testing.T) {
	w, err := bench.Default()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][3]int{ // requests, prompt tokens, tokens to generate
		"single": {1, 32, 128}, "decode": {32, 512, 4096}, "mixed": {48, 7712, 3594}, "shared": {32, 25295, 790},
	}
	for name, sums := range want {
		cases, err := w.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		got := [3]int{len(cases)}
		for _, c := range cases {
			got[1] += len(c.Prompt)
			got[2] += c.MaxNew
		}
		if got != sums {
			t.Errorf("%s: %v, want %v", name, got, sums)
		}
	}
	if len(w) != len(want) {
		t.Errorf("workloads are %v", w.Names())
	}
}

func TestReadRefuses(t *testing.T) {
	for name, file := range map[string]string{
		"empty file":     ``,
		"list":           `[]`,
		"nothing in it":  `null`,
		"torn":           `{"a":[{"prompt":[1],"max_new":1}`,
		"tail":           `{"a":[{"prompt":[1],"max_new":1}]} {}`,
		"unknown field":  `{"a":[{"prompt":[1],"max_new":1,"min_new":1}]}`,
		"no requests":    `{"a":[]}`,
		"no prompt":      `{"a":[{"max_new":1}]}`,
		"nothing to do":  `{"a":[{"prompt":[1],"max_new":0}]}`,
		"too urgent":     `{"a":[{"prompt":[1],"max_new":1,"priority":101}]}`,
		"not urgent":     `{"a":[{"prompt":[1],"max_new":1,"priority":-101}]}`,
		"id too large":   `{"a":[{"prompt":[2147483648],"max_new":1}]}`,
		"id not a whole": `{"a":[{"prompt":[1.5],"max_new":1}]}`,
	} {
		if _, err := bench.Read(strings.NewReader(file)); !errors.Is(err, bench.ErrFormat) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func TestGetListsNames(t *testing.T) {
	w := bench.Workloads{"b": nil, "a": nil}
	_, err := w.Get("c")
	if !errors.Is(err, bench.ErrName) || !strings.HasSuffix(err.Error(), "there are a, b") {
		t.Errorf("error is %v", err)
	}
}
