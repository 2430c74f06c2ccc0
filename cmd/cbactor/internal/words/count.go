package words

import "fmt"

// Count is a number of things, whose plural takes an s: "1 token", "2 tokens".
// Averages are told as %v does.
func Count[N int | int64 | float64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%v %ss", n, thing)
}
