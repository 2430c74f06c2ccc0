package requests_test

import (
	"strings"
	"testing"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
)

// What a decoder of JSON would replace without a word is refused.
func TestCharactersAreWhole(t *testing.T) {
	for prompt, want := range map[string]string{
		"é 😀 �":                    "", // U+FFFD itself is a character
		`\ud83d\ude00`:             "",
		`\uD83D\uDE00\u00e9`:       "",
		`\\ud83d`:                  "", // no escape
		`\\\ud83d\ude00`:           "",
		`\ud83d`:                   `f:1: \ud83d is half a character: its other half does not follow`,
		`a\ud83d\u0041`:            `f:1: \ud83d is half a character: its other half does not follow`,
		`\ude00\ud83d`:             `f:1: \ude00 is half a character: its other half does not follow`,
		`\ud83d\ude00\ud83d b`:     `f:1: \ud83d is half a character: its other half does not follow`,
		`\ud83d\\ude00`:            `f:1: \ud83d is half a character: its other half does not follow`,
		"a\xff":                    "f:1: the line is not UTF-8: byte 13 is 0xff: convert the file",
		"\xed\xa0\xbd\xed\xb8\x80": "f:1: the line is not UTF-8: byte 12 is 0xed: convert the file",
	} {
		got, bad := readAll(t, strings.NewReader(`{"prompt":"`+prompt+`"}`))
		if want == "" && len(got) != 1 || want != "" && (len(bad) != 1 || bad[0] != want) {
			t.Errorf("%q: read %d, bad %q, want %q", prompt, len(got), bad, want)
		}
	}
}

func TestByteOrderMarkIsPassedOver(t *testing.T) {
	const mark = "\xef\xbb\xbf"
	got, bad := readAll(t, strings.NewReader(mark+`{"prompt":"a"}`+"\n"+mark+`{"prompt":"b"}`))
	if len(got) != 1 || got[0].ID != "line-1" || len(bad) != 1 {
		t.Errorf("read %d requests, bad %q; one mark belongs to a file", len(got), bad)
	}
}

func TestCheckText(t *testing.T) {
	for text, want := range map[string]string{
		"a �":    "",
		"":       "the prompt is empty: give some text",
		"a\xffb": "the prompt is not UTF-8: byte 2 is 0xff: convert it",
	} {
		got := ""
		if err := requests.CheckText(text); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
