package profile

import "github.com/cbactor/cbactor/internal/charts"

// SVG is the report as a roofline, with the operations of which something is counted.
func (r Report) SVG(title string) []byte {
	m := &r.Machine
	c := charts.Roof{Title: title,
		Bandwidths: []charts.Limit{{Name: "memory", Rate: m.Memory}, {Name: "cache", Rate: m.Cache}},
		Peaks:      []charts.Limit{{Name: "int8", Rate: m.Int8}, {Name: "f32", Rate: m.F32}}}
	for _, s := range r.Steps {
		cloud := charts.Cloud{Name: s.Kind}
		for _, o := range s.Operations {
			if o.Bytes > 0 {
				cloud.Points = append(cloud.Points, charts.Point{Label: o.Name, Intensity: o.Ops / o.Bytes, Rate: o.GOps})
			}
		}
		c.Clouds = append(c.Clouds, cloud)
	}
	return charts.Roofline(c)
}
