package test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The README and docs/hardware say when the GPU path last ran on hardware: the date of the newest record
// of a real device, or never.
func TestLastRunOnHardware(t *testing.T) {
	records, err := filepath.Glob("../docs/hardware/*.json")
	if err != nil {
		t.Fatal(err)
	}
	last := "never" // names of records are dates: they ascend
	for _, name := range records {
		last = strings.TrimSuffix(filepath.Base(name), ".json")
		if js, err := os.ReadFile(name); err != nil || !strings.Contains(string(js), `"emulated": false`) {
			t.Errorf("%s is no record of a real device (%v)", name, err)
		}
	}
	for _, page := range []string{"../README.md", "../docs/hardware/README.md"} {
		text, err := os.ReadFile(page)
		if want := "Last run on hardware: " + last; err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s does not say %q (%v)", page, want, err)
		}
	}
}
