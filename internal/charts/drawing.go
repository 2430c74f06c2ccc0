package charts

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Sizes in pixels: of a chart, of what lies around its plot, of its letters.
const (
	width, height = 860, 420
	left, right   = 74, 20
	above, below  = 40, 56
	letter        = 7.2 // the width of one on average
	lineHeight    = 13
)

// palette is what series are drawn in, in their order.
var palette = []string{"#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd", "#8c564b", "#17becf", "#7f7f7f"}

func color(i int) string { return palette[i%len(palette)] }

// Mark begins every chart: it is how a file is known to be one.
const Mark = `<svg xmlns="http://www.w3.org/2000/svg" data-of="cbactor charts"`

// drawing is a chart that is being drawn.
type drawing struct{ b strings.Builder }

// begin is a chart of which the title is written.
func begin(title string) *drawing {
	d := &drawing{}
	fmt.Fprintf(&d.b, Mark+` width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&d.b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	d.text(left, 18, "start", "#000", title)
	return d
}

func (d *drawing) line(x1, y1, x2, y2 float64, stroke string) {
	fmt.Fprintf(&d.b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, stroke)
}

// text writes a line; anchor is start, middle or end.
func (d *drawing) text(x, y float64, anchor, fill, s string) {
	fmt.Fprintf(&d.b, `<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, anchor, fill, html.EscapeString(clean(s)))
}

func (d *drawing) rect(x, y, w, h float64, fill string) {
	fmt.Fprintf(&d.b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, w, h, fill)
}

func (d *drawing) dot(x, y float64, fill string) {
	fmt.Fprintf(&d.b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="%s"/>`+"\n", x, y, fill)
}

func (d *drawing) end() []byte {
	d.b.WriteString("</svg>\n")
	return []byte(d.b.String())
}

// legend names the series in their colours, in one line above the plot.
func (d *drawing) legend(names []string) {
	x := float64(left)
	for i, name := range names {
		d.rect(x, 26, 9, 9, color(i))
		d.text(x+13, 35, "start", "#000", name)
		x += 32 + letter*float64(len([]rune(name)))
	}
}

// axes draws the grid of both scales with their numbers, and names them.
func (d *drawing) axes(x, y *scale, xName, yName string) {
	d.rows(y, yName)
	for _, v := range x.ticks {
		at := x.at(v)
		d.line(at, above, at, height-below, "#eee")
		d.text(at, height-below+16, "middle", "#000", number(v))
	}
	d.text((left+width-right)/2, height-14, "middle", "#444", xName)
}

// rows draws the lines of a vertical scale with their numbers.
func (d *drawing) rows(y *scale, name string) {
	for _, v := range y.ticks {
		at := y.at(v)
		d.line(left, at, width-right, at, "#ddd")
		d.text(left-6, at+4, "end", "#000", number(v))
	}
	fmt.Fprintf(&d.b, `<text transform="translate(16 %d) rotate(-90)" text-anchor="middle" fill="#444">%s</text>`+"\n",
		(above+height-below)/2, html.EscapeString(clean(name)))
}

// clean is s without the characters that no XML may have.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0xfffe || r == 0xffff {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// number is v in at most four digits.
func number(v float64) string {
	if math.Abs(v) >= 1000 && math.Abs(v) < 1e7 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// drawn says whether there is something to draw for v: 0, or a number that is far enough
// from the ends of float64 for a scale's margins and steps to be numbers, too.
func drawn(v float64) bool {
	size := math.Abs(v)
	return v == 0 || size >= 1e-300 && size <= 1e300
}
