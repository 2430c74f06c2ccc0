package text

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The texts that make tokenizers quadratic: one word or one run without end.
var longTexts = map[string]func(n int) string{
	"letters":      func(n int) string { return strings.Repeat("a", n) },
	"spaces":       func(n int) string { return strings.Repeat(" ", n) },
	"line ends":    func(n int) string { return strings.Repeat("\n", n) },
	"tabs, word":   func(n int) string { return strings.Repeat("\t", n) + "x" },
	"digits":       func(n int) string { return strings.Repeat("1", n) },
	"marks":        func(n int) string { return "a" + strings.Repeat("\u0301\u0323", n/4) },
	"almost added": func(n int) string { return strings.Repeat("<|im_star", n/9) },
	"bad bytes":    func(n int) string { return strings.Repeat("\xff", n) },
}

// kinds are codecs of every kind: models, and ways to cut text.
func kinds(t testing.TB) map[string]*Codec {
	all := make(map[string]*Codec)
	for _, name := range smallTokenizers {
		all[name] = smallCodec(t, name)
	}
	v := vocabOf(t, "bpe_bytelevel_gpt2", "gpt-4o")
	c, err := fromVocab(v)
	if err != nil {
		t.Fatal(err)
	}
	all["a regular expression"] = c
	return all
}

// A megabyte of one letter takes less than 2 s on a machine that does nothing else.
func TestAMegabyteOfOneLetter(t *testing.T) {
	if os.Getenv("CBACTOR_FULL") == "" || raced {
		t.Skip("a measurement: set CBACTOR_FULL, without the race detector")
	}
	for name, c := range kinds(t) {
		took := timeOf(c, strings.Repeat("a", 1<<20))
		for try := 0; try < 3 && took >= 2*time.Second; try++ {
			took = timeOf(c, strings.Repeat("a", 1<<20))
		}
		t.Logf("%s: %v", name, took)
		if took >= 2*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
}

func timeOf(c *Codec, text string) time.Duration {
	began := time.Now()
	c.EncodeRaw(text)
	return time.Since(began)
}

func TestWordCacheIsBounded(t *testing.T) {
	c := smallCodec(t, "bpe_bytelevel_gpt2")
	for i := range 2*cachedWords + 10 {
		c.EncodeRaw(strings.Map(func(r rune) rune { return r + 'a' - '0' }, strconv.Itoa(i)))
	}
	c.EncodeRaw(strings.Repeat("z", cachedWordSize+1))
	if n := len(c.model.words.words); n == 0 || n > cachedWords {
		t.Errorf("%d words kept, 1 to %d are wanted", n, cachedWords)
	}
	for word := range c.model.words.words {
		if len(word) > cachedWordSize {
			t.Errorf("a word of %d bytes is kept", len(word))
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	c := smallCodec(b, "bpe_bytelevel_gpt2")
	text := strings.Repeat("The quick brown fox doesn't jump over 12 lazy dogs;\n  naïve café 你好.\n", 1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		c.EncodeRaw(text)
	}
}

// For testdata/speed.py: encodes the file that CBACTOR_TEXT names with each small tokenizer
// whose name comes on standard input, and answers with the nanoseconds that it took.
func TestEncodeOnDemand(t *testing.T) {
	path := os.Getenv("CBACTOR_TEXT")
	if path == "" {
		t.Skip("CBACTOR_TEXT names no file: testdata/speed.py does")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	codecs := make(map[string]*Codec)
	names := bufio.NewScanner(os.Stdin)
	for names.Scan() {
		name := names.Text()
		if codecs[name] == nil {
			codecs[name] = smallCodec(t, name)
		}
		fmt.Println("took", timeOf(codecs[name], string(text)).Nanoseconds())
	}
	if err := names.Err(); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkSessionPush(b *testing.B) {
	c := smallCodec(b, "bpe_bytelevel_gpt2")
	ids := c.EncodeRaw("The quick brown fox 你好. ")
	b.ReportAllocs()
	for b.Loop() {
		s := NewSession(c)
		for i := range ids {
			s.Push(ids[i : i+1])
		}
	}
}
