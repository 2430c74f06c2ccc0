package sim

import (
	"fmt"
	"io"
	"strings"
)

// Size of the chart in pixels, with room for the labels at the left and below.
const (
	width, height = 900, 360
	left, below   = 60, 40
)

// WriteSVG draws block use, and requests running and waiting, over time.
func (r *Report) WriteSVG(w io.Writer) error {
	most := 1
	for _, s := range r.samples {
		most = max(most, s.Waiting, s.Running)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	for i := 0; i <= 4; i++ {
		y := plotY(float64(i) / 4)
		fmt.Fprintf(&b, `<line x1="%d" y1="%.0f" x2="%d" y2="%.0f" stroke="#ddd"/><text x="%d" y="%.0f" text-anchor="end">%d %%</text>`+"\n", left, y, width, y, left-6, y+4, 25*i)
	}
	r.line(&b, "#1f77b4", "blocks in use", 0, func(s Sample) float64 { return float64(s.Used) / float64(r.Blocks) })
	r.line(&b, "#2ca02c", fmt.Sprintf("running (100 %% is %d)", most), 1, func(s Sample) float64 { return float64(s.Running) / float64(most) })
	r.line(&b, "#d62728", fmt.Sprintf("waiting (100 %% is %d)", most), 2, func(s Sample) float64 { return float64(s.Waiting) / float64(most) })
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%.2f virtual seconds</text>`+"\n</svg>\n", width-4, height-8, r.Seconds)
	_, err := io.WriteString(w, b.String())
	return err
}

func plotY(share float64) float64 { return 16 + (1-share)*(height-below-16) }

// line draws one curve, at most one point a pixel: the largest of those that fall on it.
func (r *Report) line(b *strings.Builder, color, label string, place int, value func(Sample) float64) {
	columns := make([]float64, width-left)
	for _, s := range r.samples {
		x := min(int(s.At/r.Seconds*float64(len(columns))), len(columns)-1)
		columns[x] = max(columns[x], value(s))
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s">%s</text><polyline fill="none" stroke="%s" points="`, left+180*place, height-24, color, label, color)
	for x, v := range columns {
		fmt.Fprintf(b, "%d,%.1f ", left+x, plotY(v))
	}
	b.WriteString(`"/>` + "\n")
}
