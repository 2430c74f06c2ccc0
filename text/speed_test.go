package text

import (
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

// 100 KB take less than a second, and twice the text at most 2.5 times as long.
// Where it is quadratic it is 4 times, always; on a busy machine it may be more
// than 2.5 now and then, so the shortest of several tries count.
func TestEncodingTakesLinearTime(t *testing.T) {
	size, tries := 100<<10, 20
	if testing.Short() {
		size = 25 << 10
	}
	for name, c := range kinds(t) {
		for kind, text := range longTexts {
			ok := false
			once, twice := time.Hour, time.Hour
			for try := 0; try < tries && !ok; try++ {
				once, twice = min(once, timeOf(c, text(size))), min(twice, timeOf(c, text(2*size)))
				ok = (once < time.Second || raced) && twice < once*5/2
			}
			t.Logf("%s, %s: %v, twice as long %v", name, kind, once, twice)
			if !ok {
				t.Errorf("%s, %s: %v for %d KB and %v for twice as long", name, kind, once, size>>10, twice)
			}
		}
	}
}

// A megabyte of one letter takes less than 2 s.
func TestAMegabyteOfOneLetter(t *testing.T) {
	if testing.Short() {
		t.Skip("measures on a megabyte")
	}
	for name, c := range kinds(t) {
		took := timeOf(c, strings.Repeat("a", 1<<20))
		for try := 0; try < 3 && took >= 2*time.Second && !raced; try++ {
			took = timeOf(c, strings.Repeat("a", 1<<20))
		}
		t.Logf("%s: %v", name, took)
		if took >= 2*time.Second && !raced {
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

// The file that CBACTOR_TEXT names, made 1 MiB long, with each small tokenizer: for
// testdata/speed.py.
func BenchmarkEncodeFile(b *testing.B) {
	path := os.Getenv("CBACTOR_TEXT")
	if path == "" {
		b.Skip("CBACTOR_TEXT names no file")
	}
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 {
		b.Fatalf("%d bytes, %v", len(data), err)
	}
	text := strings.Repeat(string(data), 1+(1<<20)/len(data))
	for _, name := range smallTokenizers {
		b.Run(name, func(b *testing.B) {
			c := smallCodec(b, name)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				c.EncodeRaw(text)
			}
		})
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
