package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// columns lays rows out under a title, each column as wide as its widest cell.
func columns(title string, rows [][]string) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	b.WriteString(title + "\n")
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			line += fmt.Sprintf("  %-*s", widths[i], cell)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
