package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// record is what DATE.json has.
type record struct {
	Date      string          `json:"date"`
	Commit    string          `json:"commit"`
	Emulated  bool            `json:"emulated"`
	Device    string          `json:"device,omitempty"` // as the driver describes it
	Driver    string          `json:"driver,omitempty"` // what the system says of it
	Passed    bool            `json:"passed"`
	Seconds   float64         `json:"seconds"`
	Parts     []result        `json:"parts"`
	Benchmark json.RawMessage `json:"benchmark,omitempty"`
}

// newRecord makes the record of results, and reads the benchmark's report, if it was written.
func (c *check) newRecord(began time.Time, results []result, report string) (*record, error) {
	r := &record{
		Date: began.UTC().Format(time.DateOnly), Emulated: c.emulated, Parts: results, Passed: true, Seconds: time.Since(began).Seconds(),
		Commit: cmp.Or(firstLine(filepath.Join(c.bin, "commit")), "unknown"), Device: c.device,
	}
	if !c.emulated {
		r.Driver = firstLine("/proc/driver/nvidia/version")
	}
	for _, p := range results {
		r.Passed = r.Passed && (p.Status == passed || p.Status == missing)
	}
	js, err := os.ReadFile(report)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	if json.Valid(js) { // else the benchmark did not come so far
		r.Benchmark = js
	}
	return r, nil
}

// firstLine is that of a file; "": there is none.
func firstLine(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// write writes the record and its page into a folder, named by its date. table is the benchmark's.
func (r *record) write(folder, table string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	js, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	name := filepath.Join(folder, r.Date)
	if err := os.WriteFile(name+".json", append(js, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(name+".md", []byte(r.page(table)), 0o644)
}

// page is the record for people.
func (r *record) page(table string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Check on a GPU, %s\n\n", r.Date)
	if r.Emulated {
		b.WriteString("**On an emulated device**: this shows that the check works, and nothing of a GPU.\n\n")
	}
	fmt.Fprintf(&b, "Commit %s.", r.Commit)
	for _, what := range []string{r.Device, r.Driver} {
		if what != "" {
			fmt.Fprintf(&b, " %s.", what)
		}
	}
	b.WriteString("\n\n| part | result | seconds | passed | failed | left out |\n|---|---|---|---|---|---|\n")
	for _, p := range r.Parts {
		fmt.Fprintf(&b, "| %s | %s | %.1f | %d | %d | %d |\n", p.Name, p.Status, p.Seconds, p.Passed, len(p.Failed), len(p.Skipped))
	}
	for _, p := range r.Parts {
		for _, test := range p.Failed {
			fmt.Fprintf(&b, "\n- %s: %s", p.Name, test)
		}
		if p.Error != "" {
			fmt.Fprintf(&b, "\n- %s: %s", p.Name, p.Error)
		}
	}
	if table != "" {
		fmt.Fprintf(&b, "\n\n```\n%s\n```", strings.TrimSpace(table))
	}
	return b.String() + "\n"
}
