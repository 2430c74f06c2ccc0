package weights

import (
	"errors"
	"testing"
)

// The sums are those of Python's hashlib and xxhash, and the whole is what they give
// for the text that sha256sum would print.
func TestDigests(t *testing.T) {
	long := make([]byte, 0, 10240)
	for len(long) < 10240 {
		long = append(long, byte(len(long)))
	}
	for _, test := range []struct{ data, want string }{
		{"", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"", "xxh3-64:2d06800538d394c2"},
		{"", "xxh3-128:99aa06d3014798d86001c324468d497f"},
		{"abc", "xxh3-64:78af5f94892f3950"},
		{"abc", "xxh3-128:06b05ab6733a618578af5f94892f3950"},
		{string(long), "sha256:e96760a87768717bcebcfd25ddc7d46b4dbc95a4b0014def080c08539f7d90d0"},
		{string(long), "xxh3-64:c03d2231ab9348f3"},
		{string(long), "xxh3-128:1cb22534d0d96975c03d2231ab9348f3"},
	} {
		want, err := ParseDigest(test.want)
		if err != nil || want.String() != test.want {
			t.Errorf("%s: read as %s, %v", test.want, want, err)
		}
		if got := Sum(want.Kind, []byte(test.data)); got != want {
			t.Errorf("%d bytes: got %s, want %s", len(test.data), got, want)
		}
	}
	for kind, want := range map[DigestKind]string{
		SHA256:   "sha256:68c2919f4305e50800082ab7f11eb17d96c7832f59154e97b1d373a5179a63ea",
		XXH3_64:  "xxh3-64:db9313a7bbbe515b",
		XXH3_128: "xxh3-128:a7ef60fe61442b08bd9eb4c8bc6ba3a4",
	} {
		sums := map[string]Digest{"a": Sum(kind, []byte("1")), "b": Sum(kind, []byte("2"))}
		if got := WholeDigest(kind, sums).String(); got != want {
			t.Errorf("whole: got %s, want %s", got, want)
		}
	}
}

func TestParseDigestRefuses(t *testing.T) {
	for _, text := range []string{"sha256", "sha256:", "sha256:00", "md5:00", "none:", ":", "xxh3-64:2d06800538d394c", "xxh3-64:2d06800538d394cg",
		"xxh3-128:2d06800538d394c2", "XXH3-64:2d06800538d394c2"} {
		if d, err := ParseDigest(text); !errors.Is(err, ErrDigest) {
			t.Errorf("%q: read as %s, %v", text, d, err)
		}
	}
	if d, err := ParseDigest(""); err != nil || d != (Digest{}) || d.String() != "" {
		t.Errorf("no digest: %s, %v", d, err)
	}
}
