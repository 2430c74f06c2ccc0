package text

import (
	"bufio"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// goldenLine is one text with what the reference makes of it: Hugging Face
// tokenizers 0.23.3.
type goldenLine struct {
	T       *string // the text, or
	B64     string  // its bytes where they are not UTF-8
	IDs     []int32 `json:"ids"`     // nothing put around the text
	Special []int32 `json:"special"` // as the post-processor has it; absent: the same
	Dec     *string `json:"dec"`     // IDs as text, special tokens kept
}

func (l goldenLine) text(t *testing.T) string {
	if l.T != nil {
		return *l.T
	}
	b, err := base64.StdEncoding.DecodeString(l.B64)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// openGzip reads a file that is compressed.
func openGzip(t testing.TB, path string) io.Reader {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// readGolden reads a file of testdata, NAME.golden.jsonl.gz, with one goldenLine a line.
func readGolden(t *testing.T, name string) []goldenLine {
	t.Helper()
	var lines []goldenLine
	s := bufio.NewScanner(openGzip(t, filepath.Join("testdata", name+".golden.jsonl.gz")))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var l goldenLine
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// checkGolden compares a codec with a file of goldens and prints the count.
func checkGolden(t *testing.T, c *Codec, name string) {
	t.Helper()
	lines := readGolden(t, name)
	equal := 0
	for _, l := range lines {
		s := l.text(t)
		want := l.IDs
		if l.Special != nil {
			want = l.Special
		}
		raw, whole := c.EncodeRaw(s), c.Encode(s)
		switch {
		case !slices.Equal(raw, l.IDs):
			t.Errorf("%q: ids %v, want %v", s, raw, l.IDs)
		case !slices.Equal(whole, want):
			t.Errorf("%q: with special tokens %v, want %v", s, whole, want)
		case l.Dec != nil && c.DecodeAll(l.IDs) != *l.Dec:
			t.Errorf("%v: decoded %q, want %q", l.IDs, c.DecodeAll(l.IDs), *l.Dec)
		default:
			equal++
		}
	}
	t.Logf("golden: %-28s %4d cases %4d passed", name, len(lines), equal)
}

// smallTokenizers are the tokenizer.json of testdata.
var smallTokenizers = []string{"bpe_bytelevel_gpt2", "bpe_llama3_split_nfc", "bpe_bytefallback_prepend", "bpe_bytefallback_metaspace", "bpe_nfkc_lower_digits", "unigram_nfkc_metaspace"}

func TestSmallTokenizersMatchTheReference(t *testing.T) {
	for _, name := range smallTokenizers {
		t.Run(name, func(t *testing.T) {
			checkGolden(t, smallCodec(t, name), name)
		})
	}
}

// Options of the components, one by one.
func TestVariantsMatchTheReference(t *testing.T) {
	var variants []struct {
		Name    string
		File    string
		Changes [][2]string
		Texts   []goldenLine
	}
	if err := json.NewDecoder(openGzip(t, "testdata/variants.golden.json.gz")).Decode(&variants); err != nil {
		t.Fatal(err)
	}
	cases, equal := 0, 0
	for _, v := range variants {
		base, err := os.ReadFile("testdata/" + v.File + ".tokenizer.json")
		if err != nil {
			t.Fatal(err)
		}
		file := string(base)
		for _, change := range v.Changes {
			file = strings.Replace(file, change[0], change[1], 1)
		}
		c, err := fromTokenizerJSON([]byte(file))
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		for _, l := range v.Texts {
			cases++
			if got := c.Encode(*l.T); !slices.Equal(got, l.IDs) {
				t.Errorf("%s: %+q: %v, want %v", v.Name, *l.T, got, l.IDs)
			} else if got := c.DecodeAll(l.IDs); got != *l.Dec {
				t.Errorf("%s: %v: decoded %q, want %q", v.Name, l.IDs, got, *l.Dec)
			} else {
				equal++
			}
		}
	}
	t.Logf("golden: %-28s %4d cases %4d passed", fmt.Sprintf("%d variants", len(variants)), cases, equal)
}

// smallCodec is the codec of a tokenizer.json in testdata.
func smallCodec(t testing.TB, name string) *Codec {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := fromTokenizerJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
