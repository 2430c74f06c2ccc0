package charts

// Bar is one series of a bar chart: a value for each group. NaN: there is none.
type Bar struct {
	Name   string
	Values []float64
}

// BarChart has groups of bars side by side, such as engines in each workload.
type BarChart struct {
	Title  string
	Unit   string   // of values
	Groups []string // what stands below each group
	Series []Bar
}

// Bars draws a bar chart; each bar has its value above it. Values are 0 or more.
func Bars(c BarChart) []byte {
	d := begin(c.Title)
	var all []float64
	var names []string
	for _, s := range c.Series {
		all, names = append(all, s.Values...), append(names, s.Name)
	}
	y := vertical(fromZero(all))
	d.rows(y, c.Unit)
	d.legend(names)
	group := float64(width-left-right) / float64(max(1, len(c.Groups)))
	bar := 0.8 * group / float64(max(1, len(c.Series)))
	for g, name := range c.Groups {
		start := left + (float64(g)+0.1)*group
		for i, s := range c.Series {
			if g >= len(s.Values) || !drawn(s.Values[g]) || s.Values[g] < 0 {
				continue
			}
			v := s.Values[g]
			x, top := start+float64(i)*bar, y.at(v)
			d.rect(x+1, top, bar-2, y.from-top, color(i))
			d.text(x+bar/2, top-3, "middle", "#000", number(v))
		}
		d.text(start+0.4*group, height-below+18, "middle", "#000", name)
	}
	return d.end()
}
