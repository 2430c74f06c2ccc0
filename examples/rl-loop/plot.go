package main

import (
	"fmt"
	"os"
	"strings"
)

// Sizes of the plot in pixels.
const (
	plotWidth, panelHeight = 860, 180
	plotLeft, plotRight    = 60, 20
	plotAbove, plotBelow   = 30, 20
)

// panel is a curve with a scale of its own, from 0 up.
type panel struct {
	title, color string
	value        func(point) float64
}

var panels = []panel{
	{"reward: share of words that begin with the letter", "#1f77b4", func(p point) float64 { return p.reward }},
	{"staleness: updates since a token's weights were the newest", "#d62728", func(p point) float64 { return p.staleness }},
	{"tokens/s", "#2ca02c", func(p point) float64 { return p.tokens }},
}

// writePlot draws reward, staleness and speed over the steps, as SVG.
func writePlot(path string, points []point) error {
	return os.WriteFile(path, []byte(plot(points)), 0o644)
}

// plot is the drawing.
func plot(points []point) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n",
		plotWidth, len(panels)*panelHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, len(panels)*panelHeight)
	for i, p := range panels {
		p.draw(&b, i*panelHeight, points)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// draw puts a panel below top.
func (p panel) draw(b *strings.Builder, top int, points []point) {
	const height = panelHeight - plotAbove - plotBelow
	most := 1e-9
	for _, at := range points {
		most = max(most, p.value(at))
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s">%s</text>`+"\n", plotLeft, top+plotAbove-10, p.color, p.title)
	for i := range 3 {
		y := top + plotAbove + height*i/2
		fmt.Fprintf(b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#ddd"/>`+"\n", plotLeft, y, plotWidth-plotRight, y)
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%.3g</text>`+"\n", plotLeft-6, y+4, most*float64(2-i)/2)
	}
	fmt.Fprintf(b, `<polyline fill="none" stroke="%s" points="`, p.color)
	for i, at := range points {
		x := plotLeft + float64((plotWidth-plotLeft-plotRight)*i)/float64(max(1, len(points)-1))
		fmt.Fprintf(b, "%.1f,%.1f ", x, float64(top+plotAbove)+height*(1-p.value(at)/most))
	}
	b.WriteString(`"/>` + "\n")
}
