package charts

import "fmt"

// XY is a point of a line.
type XY struct{ X, Y float64 }

// Line is one series of a line chart.
type Line struct {
	Name   string
	Points []XY // in the order in which they are joined
}

// LineChart has values over a quantity, such as tokens/s over the batch. The quantity is
// above 0 and on a logarithmic scale; values are 0 or more, on a linear one.
type LineChart struct {
	Title, X, Y string // X and Y are the names of the axes, with their units
	Series      []Line
}

// Lines draws a line chart. Points that cannot be drawn, whose X is not above 0 or which
// are not finite, are left out.
func Lines(c LineChart) []byte {
	d := begin(c.Title)
	var xs, ys []float64
	var names []string
	lines := make([][]XY, len(c.Series))
	for i, s := range c.Series {
		names = append(names, s.Name)
		for _, p := range s.Points {
			if drawn(p.X) && drawn(p.Y) && p.X > 0 && p.Y >= 0 {
				lines[i] = append(lines[i], p)
				xs, ys = append(xs, p.X), append(ys, p.Y)
			}
		}
	}
	x, y := horizontal(byValues(xs)), vertical(fromZero(ys))
	d.axes(x, y, c.X, c.Y)
	d.legend(names)
	for i, points := range lines {
		fmt.Fprintf(&d.b, `<polyline fill="none" stroke="%s" stroke-width="1.5" points="`, color(i))
		for _, p := range points {
			fmt.Fprintf(&d.b, "%.1f,%.1f ", x.at(p.X), y.at(p.Y))
		}
		d.b.WriteString(`"/>` + "\n")
		for _, p := range points {
			d.dot(x.at(p.X), y.at(p.Y), color(i))
		}
	}
	return d.end()
}
