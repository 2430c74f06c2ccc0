package story

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
)

// Seconds writes microseconds as seconds, to a tenth of a millisecond.
func Seconds(micros int64) string { return fmt.Sprintf("%.4f s", float64(micros)/1e6) }

// Printable is s, quoted if it has characters that a terminal could obey.
func Printable(s string) string {
	if strings.ContainsFunc(s, unicode.IsControl) {
		return strconv.Quote(s)
	}
	return s
}

// name is a request as the others call it.
func name(id string) string {
	if id == "" {
		return "a request that has ended"
	}
	return Printable(id)
}

func are(n int, thing string) string {
	if n == 1 {
		return "1 " + thing + " is"
	}
	return words.Count(n, thing) + " are"
}
