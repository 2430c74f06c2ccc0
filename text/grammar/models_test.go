package grammar

import (
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/text"
)

// codecs are those of the embedded model and, where it was fetched, of SmolLM2.
func codecs(t testing.TB) map[string]*text.Codec {
	list := map[string]*text.Codec{"tiny": openCodec(t, checkpoint.Embedded)}
	if path, err := checkpoint.Resolve("smollm2"); err == nil {
		list["smollm2"] = openCodec(t, path)
	}
	return list
}

// smolCodec is that of SmolLM2; the test is skipped when it was not fetched.
func smolCodec(t testing.TB) *text.Codec {
	t.Helper()
	path, err := checkpoint.Resolve("smollm2")
	if err != nil {
		t.Skipf("SmolLM2 is not there: %v", err)
	}
	return openCodec(t, path)
}

func openCodec(t testing.TB, path string) *text.Codec {
	t.Helper()
	c, err := checkpoint.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	codec, err := text.Load(c)
	if err != nil {
		t.Fatal(err)
	}
	return codec
}
