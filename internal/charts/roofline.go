package charts

import "math"

// Limit is what a machine can do at most.
type Limit struct {
	Name string
	Rate float64 // a bandwidth in GB/s, a peak in GOP/s
}

// Point is an operation of a roofline.
type Point struct {
	Label     string
	Intensity float64 // operations for each byte
	Rate      float64 // GOP/s
}

// Cloud are points of one colour.
type Cloud struct {
	Name   string
	Points []Point
}

// Roof is a roofline chart (Williams, Waterman and Patterson, 2009): nothing can be
// faster than a peak, nor than a bandwidth times the operations for each byte. Both
// axes are logarithmic.
type Roof struct {
	Title      string
	Bandwidths []Limit
	Peaks      []Limit
	Clouds     []Cloud
}

// Roofline draws a roofline. Points and limits that are not from 1e-300 to 1e300 are left
// out.
func Roofline(c Roof) []byte {
	d := begin(c.Title)
	xs, ys, top := c.extent()
	x, y := horizontal(byLog(xs)), vertical(byLog(ys))
	d.axes(x, y, "operations per byte", "GOP/s")
	var names []string
	for _, cloud := range c.Clouds {
		names = append(names, cloud.Name)
	}
	d.legend(names)
	var labels labels
	for _, l := range positive(c.Peaks) {
		from := x.low
		if fastest := largest(rates(c.Bandwidths)); fastest > 0 {
			from = min(max(from, l.Rate/fastest), x.top)
		}
		d.line(x.at(from), y.at(l.Rate), x.to, y.at(l.Rate), "#555")
		labels.put(d, x.to-4, y.at(l.Rate)-4, "end", "#555", l.Name+" "+number(l.Rate)+" GOP/s")
	}
	for _, l := range positive(c.Bandwidths) {
		from, to := max(x.low, y.low/l.Rate), min(x.top, top/l.Rate)
		if from < to {
			d.line(x.at(from), y.at(from*l.Rate), x.at(to), y.at(to*l.Rate), "#555")
			labels.put(d, x.at(from)+14, y.at(from*l.Rate)+8, "start", "#555", l.Name+" "+number(l.Rate)+" GB/s")
		}
	}
	for i, cloud := range c.Clouds {
		for _, p := range cloud.Points {
			if p.drawn() {
				d.dot(x.at(p.Intensity), y.at(p.Rate), color(i))
				labels.put(d, x.at(p.Intensity)+6, y.at(p.Rate)+4, "start", color(i), p.Label)
			}
		}
	}
	return d.end()
}

func (p *Point) drawn() bool {
	return drawn(p.Intensity) && drawn(p.Rate) && p.Intensity > 0 && p.Rate > 0
}

// extent is what has to be within the axes, and the highest limit: points, peaks, and
// where each bandwidth meets the highest of these.
func (c *Roof) extent() (xs, ys []float64, top float64) {
	for _, cloud := range c.Clouds {
		for _, p := range cloud.Points {
			if p.drawn() {
				xs, ys = append(xs, p.Intensity), append(ys, p.Rate)
			}
		}
	}
	ys = append(ys, rates(c.Peaks)...)
	if top = largest(ys); top == 0 {
		top = 1
	}
	for _, l := range positive(c.Bandwidths) {
		xs = append(xs, top/l.Rate)
	}
	return xs, ys, top
}

func positive(limits []Limit) []Limit {
	var l []Limit
	for _, one := range limits {
		if drawn(one.Rate) && one.Rate > 0 {
			l = append(l, one)
		}
	}
	return l
}

func rates(limits []Limit) []float64 {
	var l []float64
	for _, one := range positive(limits) {
		l = append(l, one.Rate)
	}
	return l
}

// box is where a label stands.
type box struct{ left, right, base float64 }

// labels are those that were written.
type labels []box

// put writes a label as near to a place as none stands yet.
func (l *labels) put(d *drawing, x, y float64, anchor, fill, s string) {
	wide := letter * float64(len([]rune(s)))
	b := box{left: x, right: x + wide, base: y}
	if anchor == "end" {
		b.left, b.right = x-wide, x
	}
	for i := 1; l.taken(b) && i < 40; i++ {
		away := float64(i / 2 * lineHeight)
		if i%2 == 1 {
			away = -float64((i + 1) / 2 * lineHeight)
		}
		b.base = y + away
	}
	*l = append(*l, b)
	d.text(x, b.base, anchor, fill, s)
}

// taken says whether b would lie over another label.
func (l labels) taken(b box) bool {
	for _, o := range l {
		if b.left < o.right && o.left < b.right && math.Abs(b.base-o.base) < lineHeight {
			return true
		}
	}
	return false
}
