// Package nearest finds what a misspelt name was meant to be. It has no state and
// is safe from any goroutine.
package nearest

// Name is the one of names that the fewest changes turn word into, the first among
// equals; "" when there are no names.
func Name(word string, names []string) string {
	best, least := "", 0
	for _, n := range names {
		if d := distance(word, n); best == "" || d < least {
			best, least = n, d
		}
	}
	return best
}

// Close is Name if it resembles word: at most a third of the longer one's
// characters differ; else "".
func Close(word string, names []string) string {
	n := Name(word, names)
	if 3*distance(word, n) > max(len([]rune(word)), len([]rune(n))) {
		return ""
	}
	return n
}

// distance counts the characters to insert, delete, change, or swap with the next
// one (the restricted Damerau-Levenshtein distance).
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	rows := [3][]int{make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)}
	before, last, row := rows[0], rows[1], rows[2]
	for j := range row {
		row[j] = j
	}
	for i := range from {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range to {
			change := last[j]
			if from[i] != to[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && from[i] == to[j-1] && from[i-1] == to[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(to)]
}
