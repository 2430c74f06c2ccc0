package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/cbactor/cbactor/internal/charts"
)

// curve is one of the charts over the batch or the context.
type curve struct {
	over string // batch or context
	file string
	what string
	of   func(decode, prefill float64) float64
}

func (c *curvesFile) curves() []curve {
	decode := func(decode, _ float64) float64 { return decode }
	return []curve{
		{"batch", "batch.svg", fmt.Sprintf("decoding, tokens/s over the batch, at a context of %d", c.AtContext), decode},
		{"context", "context.svg", fmt.Sprintf("decoding, tokens/s over the context, %d sequences", c.AtBatch), decode},
		{"context", "prefill.svg", fmt.Sprintf("prompts, tokens/s over the context, %d sequences", c.AtBatch),
			func(_, prefill float64) float64 { return prefill }},
	}
}

// names are the series in their order.
func (c *curvesFile) names() []string {
	return slices.SortedFunc(maps.Keys(c.Series), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
}

// points are the medians of a series, by what they are over.
func (c *curvesFile) points(of curve, series string) map[int]float64 {
	values := map[int][]float64{}
	for _, r := range c.Runs {
		if r.Series != series || r.Curve != of.over || r.Error != "" {
			continue
		}
		x := r.Batch
		if of.over == "context" {
			x = r.Context
		}
		values[x] = append(values[x], of.of(r.PerS, r.PrefillPerS))
	}
	points := map[int]float64{}
	for x, v := range values {
		points[x] = median(v)
	}
	return points
}

// charts are the curves by the names of their files.
func (c *curvesFile) charts() map[string][]byte {
	files := map[string][]byte{}
	for _, of := range c.curves() {
		chart := charts.LineChart{Title: of.what, X: of.over, Y: "tokens/s"}
		for _, name := range c.names() {
			line := charts.Line{Name: name}
			points := c.points(of, name)
			for _, x := range slices.Sorted(maps.Keys(points)) {
				line.Points = append(line.Points, charts.XY{X: float64(x), Y: points[x]})
			}
			chart.Series = append(chart.Series, line)
		}
		files[of.file] = charts.Lines(chart)
	}
	return files
}

// write tells the curves as charts and as tables.
func (c *curvesFile) write(w *writer) {
	for _, of := range c.curves() {
		w.line("![%s](performance/%s)\n", of.what, of.file)
		w.line("%s:\n", of.what)
		w.cells(of.over, c.names())
		xs := map[int]bool{}
		for _, name := range c.names() {
			for x := range c.points(of, name) {
				xs[x] = true
			}
		}
		for _, x := range slices.Sorted(maps.Keys(xs)) {
			row := fmt.Sprintf("| %d |", x)
			for _, name := range c.names() {
				told := " - |"
				if v, measured := c.points(of, name)[x]; measured {
					told = fmt.Sprintf(" %.1f |", v)
				}
				row += told
			}
			w.line("%s", row)
		}
		w.line("")
	}
	for _, r := range c.Runs {
		if r.Error != "" {
			w.line("%s, batch %d, context %d failed: %s\n", r.Series, r.Batch, r.Context, r.Error)
		}
	}
}
