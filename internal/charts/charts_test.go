package charts

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

var (
	nan  = math.NaN()
	bars = BarChart{Title: "tokens/s & more", Unit: "tokens/s", Groups: []string{"single", "decode"},
		Series: []Bar{{"ours", []float64{472, 1906}}, {"<other>", []float64{114, nan}}}}
	lines = LineChart{Title: "over batch", X: "sequences", Y: "tokens/s",
		Series: []Line{{"int8", []XY{{1, 480}, {4, 1400}, {64, 1814}}}, {"f32", []XY{{1, 90}, {0, 5}, {64, nan}}}}}
	roof = Roof{Title: "decode", Bandwidths: []Limit{{"memory", 29}, {"cache", 58}}, Peaks: []Limit{{"int8", 1315}, {"f32", 342}},
		Clouds: []Cloud{{"decode", []Point{{"qkv", 3.2, 90}, {"out", 3.2, 91}, {"gate+up", 3.2, 90}}}, {"prefill", []Point{{"qkv", 205, 800}, {"norm", 0, 3}}}}}
)

// elements parses an SVG and counts its elements by name; texts are those of text.
func elements(t *testing.T, svg []byte) (count map[string]int, texts []string) {
	t.Helper()
	count = map[string]int{}
	inText := false
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return count, texts
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			count[token.Name.Local]++
			inText = token.Name.Local == "text"
		case xml.CharData:
			if inText {
				texts = append(texts, strings.TrimSpace(string(token)))
			}
		}
	}
}

// Charts are XML with all that there is to be seen, and the same bytes every time.
func TestCharts(t *testing.T) {
	for _, c := range []struct {
		name  string
		draw  func() []byte
		count map[string]int
		texts []string
	}{
		{"bars", func() []byte { return Bars(bars) }, map[string]int{"rect": 1 + 2 + 3}, []string{"tokens/s & more", "<other>", "472", "1906", "114", "single"}},
		{"lines", func() []byte { return Lines(lines) }, map[string]int{"polyline": 2, "circle": 4}, []string{"over batch", "int8", "64", "sequences"}},
		{"roofline", func() []byte { return Roofline(roof) }, map[string]int{"circle": 4}, []string{"memory 29 GB/s", "int8 1315 GOP/s", "gate+up", "prefill"}},
	} {
		svg := c.draw()
		if again := c.draw(); !bytes.Equal(svg, again) {
			t.Errorf("%s: drawn twice it differs", c.name)
		}
		if !bytes.HasPrefix(svg, []byte(Mark)) {
			t.Errorf("%s: begins with %.80s", c.name, svg)
		}
		count, texts := elements(t, svg)
		for name, n := range c.count {
			if count[name] != n {
				t.Errorf("%s has %d %s, want %d", c.name, count[name], name, n)
			}
		}
		all := strings.Join(texts, "\n")
		for _, want := range c.texts {
			if !strings.Contains("\n"+all+"\n", "\n"+want+"\n") {
				t.Errorf("%s does not have %q:\n%s", c.name, want, all)
			}
		}
	}
}

// What cannot be drawn is left out: nothing, numbers that are none, letters that XML
// does not have.
func TestNothingToDraw(t *testing.T) {
	hostile := "a\x00b\xff<&>"
	for name, svg := range map[string][]byte{
		"no bars":  Bars(BarChart{}),
		"no lines": Lines(LineChart{}),
		"no roof":  Roofline(Roof{}),
		"bars":     Bars(BarChart{Title: hostile, Unit: hostile, Groups: []string{hostile}, Series: []Bar{{hostile, []float64{math.Inf(1)}}, {"", []float64{-1}}, {"", nil}}}),
		"lines":    Lines(LineChart{Title: hostile, Series: []Line{{hostile, []XY{{nan, 1}, {1, math.Inf(1)}, {-1, 1}, {1, -1}}}}}),
		"roof": Roofline(Roof{Title: hostile, Bandwidths: []Limit{{hostile, 0}, {"", nan}}, Peaks: []Limit{{hostile, math.Inf(1)}},
			Clouds: []Cloud{{hostile, []Point{{hostile, nan, 1}, {"", 1, 0}}}}}),
	} {
		count, _ := elements(t, svg)
		if count["circle"] != 0 || strings.Contains(string(svg), "NaN") || strings.Contains(string(svg), "Inf") {
			t.Errorf("%s:\n%s", name, svg)
		}
	}
}

// A scale ends at a round number and maps its ends to the plot's.
func TestScales(t *testing.T) {
	for _, c := range []struct {
		most, top float64
		ticks     int
	}{{1906, 2000, 5}, {1, 1, 6}, {0, 1, 6}, {9.9, 10, 6}, {0.031, 0.04, 5}, {500, 500, 6}} {
		s := fromZero([]float64{c.most})
		if math.Abs(s.top-c.top) > 1e-9*c.top || len(s.ticks) != c.ticks {
			t.Errorf("up to %v: %v with ticks %v", c.most, s.top, s.ticks)
		}
	}
	for _, c := range []struct {
		values []float64
		ticks  []float64
	}{
		{[]float64{3, 3000}, []float64{10, 100, 1000}},
		{[]float64{3, 20}, []float64{2, 5, 10, 20}},
		{[]float64{2, 3}, []float64{1.5, 2, 3, 4}},
		{nil, []float64{0.8, 1, 1.5}},
	} {
		if s := byLog(c.values); !slices.Equal(s.ticks, c.ticks) {
			t.Errorf("over %v: ticks %v, want %v", c.values, s.ticks, c.ticks)
		}
	}
	s := horizontal(byLog([]float64{3, 3000}))
	if s.at(s.low) != left || s.at(s.top) != width-right || len(s.ticks) != 3 {
		t.Errorf("%+v", s)
	}
	if middle := s.at(math.Sqrt(s.low * s.top)); math.Abs(middle-(left+width-right)/2) > 1e-6 {
		t.Errorf("the middle is at %v", middle)
	}
}

// Numbers at the ends of float64 make no scale without an end.
func TestScalesOfExtremes(t *testing.T) {
	for _, v := range []float64{math.MaxFloat64, 1e300, 1e-300, math.SmallestNonzeroFloat64, -math.MaxFloat64, math.Inf(1), nan} {
		for name, s := range map[string]scale{"from zero": fromZero([]float64{v}), "by logarithm": byLog([]float64{v})} {
			if n := len(s.ticks); n < 2 || n > 20 || !(s.low < s.top) || math.IsInf(s.top, 0) || math.IsInf(vertical(s).at(s.top), 0) {
				t.Errorf("%s over %g: from %g to %g, %d ticks", name, v, s.low, s.top, n)
			}
		}
	}
}

// Labels of operations that are equally fast stand beside each other.
func TestLabelsDoNotCover(t *testing.T) {
	var l labels
	d := begin("")
	for range 6 {
		l.put(d, 100, 100, "start", "#000", "gate+up")
	}
	for i, b := range l {
		if l[:i].taken(b) {
			t.Errorf("label %d lies over another: %+v", i, l)
		}
	}
}
