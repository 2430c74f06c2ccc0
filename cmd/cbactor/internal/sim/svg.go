package sim

import (
	"fmt"
	"io"
	"strings"
)

// Size of the chart in pixels, and of the plot within it.
const (
	width, height = 900, 360
	left, right   = 60, 20
	above, below  = 16, 64
	plotWidth     = width - left - right
	plotHeight    = height - above - below
	bottom        = above + plotHeight
)

// Mark begins every chart: it is how a file is known to be one.
const Mark = `<svg xmlns="http://www.w3.org/2000/svg" data-of="cbactor sim"`

// curve is one line of the chart, in shares of most.
type curve struct {
	name, color string
	most        int
	value       func(Sample) int
}

// curves are what is drawn, each on a scale of its own.
func (r *Report) curves() []curve {
	list := []curve{
		{"blocks in use", "#1f77b4", r.Blocks, func(s Sample) int { return s.Used }},
		{"running", "#2ca02c", 0, func(s Sample) int { return s.Running }},
		{"waiting", "#d62728", 0, func(s Sample) int { return s.Waiting }},
	}
	for i := range list[1:] {
		c := &list[1+i]
		c.most = 1
		for _, s := range r.samples {
			c.most = max(c.most, c.value(s))
		}
	}
	return list
}

// WriteSVG draws block use, and requests running and waiting, over time. Every curve
// has its own scale, which the legend names: 100 % of blocks are all that there are,
// and of requests the most at a time.
func (r *Report) WriteSVG(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n", Mark, width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	for i := range 5 {
		y, x := plotY(float64(i)/4), left+plotWidth*i/4
		fmt.Fprintf(&b, `<line x1="%d" y1="%.0f" x2="%d" y2="%.0f" stroke="#ddd"/>`+"\n", left, y, left+plotWidth, y)
		fmt.Fprintf(&b, `<text x="%d" y="%.0f" text-anchor="end">%d %%</text>`+"\n", left-6, y+4, 25*i)
		fmt.Fprintf(&b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#888"/>`+"\n", x, bottom, x, bottom+5)
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%.4g s</text>`+"\n", x, bottom+18, r.Seconds*float64(i)/4)
	}
	for i, c := range r.curves() {
		fmt.Fprintf(&b, `<text x="%d" y="%d" fill="%s">%s, 100 %% = %d</text>`+"\n", left+240*i, height-12, c.color, c.name, c.most)
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" points="`, c.color)
		for x, v := range r.pixels(c.value) {
			fmt.Fprintf(&b, "%d,%.1f ", left+x, plotY(float64(v)/float64(c.most)))
		}
		b.WriteString(`"/>` + "\n")
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func plotY(share float64) float64 { return bottom - share*plotHeight }

// pixels is a value over time: in each column the largest that was in force there. A
// sample is in force from its time to that of the next one; before the first it is 0.
func (r *Report) pixels(value func(Sample) int) []int {
	columns := make([]int, plotWidth)
	next, now := 0, 0
	for x := range columns {
		most := now
		for ; next < len(r.samples) && r.column(r.samples[next].At) <= x; next++ {
			now = value(r.samples[next])
			most = max(most, now)
		}
		columns[x] = most
	}
	return columns
}

// column is the one that a time falls on.
func (r *Report) column(at float64) int { return min(int(at/r.Seconds*plotWidth), plotWidth-1) }
