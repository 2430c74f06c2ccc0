package main

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the page of testdata anew")

// Measurements give the page and the charts that are kept beside them, byte by byte: those
// of testdata and those of the project.
func TestPages(t *testing.T) {
	if *update {
		if err := write("testdata"); err != nil {
			t.Fatal(err)
		}
	}
	for _, root := range []string{"testdata", "../.."} {
		t.Run(root, func(t *testing.T) {
			if root != "testdata" && missing(t, root, folder) && missing(t, root, page) {
				t.Skip("the project has not been measured yet")
			}
			files, err := pages(root)
			if err != nil {
				t.Fatal(err)
			}
			if len(files) != 1+4+3 {
				t.Errorf("%d files", len(files))
			}
			for name, want := range files {
				got, err := os.ReadFile(filepath.Join(root, name))
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s is not what its measurements give (%v): run go run ./bench/report", filepath.Join(root, name), err)
				}
			}
		})
	}
}

func missing(t *testing.T, root, name string) bool {
	_, err := os.Stat(filepath.Join(root, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err != nil
}

// What is reached, missed and not measured, by medians and on the same weights; least and
// most; what has failed.
func TestPageTells(t *testing.T) {
	files, err := pages("testdata")
	if err != nil {
		t.Fatal(err)
	}
	text := string(files[page])
	for _, want := range []string{
		"| single | openvino | 3x | 2.97x | **missed** | 3.00x | reached |",
		"| decode | openvino | 1.9x | - |  | - |  |",
		"| decode | vllm | 2.5x | 2.50x | reached | - |  |",
		"| cbactor | 300.0 | 100.0 to 320.0 | 3 | 1.00x |",
		"| openvino | - | - | 0, and 1 failed | - |",
		"openvino failed: exit status 1: no",
		"compare.py --rounds 3 --engines cbactor,openvino,cbactor-bf16,vllm,openvino-no-amx",
		"2 cores of A CPU; avx2 amx_int8; L1 48K, of CPU 0; L2 2048K, of CPU 0; 16.0 GiB of memory; Linux 6.1.",
		"| 1 | 15.0 | - |",
		"| 8192 | - | 90.0 |",
		"f32, batch 8, context 8192 failed: took longer than 900 s",
		"\nA note.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// A ratio that misses its aim never reads as one that reaches it.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		aim, ratio float64
		want       string
	}{
		{3, 3, "3.00x | reached"}, {3, 3.004, "3.00x | reached"}, {3, 2.97, "2.97x | **missed**"}, {3, 2.996, "2.996x | **missed**"},
		{1.9, 1.8996, "1.8996x | **missed**"}, {1.9, 1.9, "1.90x | reached"}, {10, math.Nextafter(10, 0), "9.999999999999998x | **missed**"},
	} {
		if got := (aim{ratio: c.aim}).verdict(c.ratio); got != c.want {
			t.Errorf("%g for %g: %q, want %q", c.ratio, c.aim, got, c.want)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	const runs = `"engines":{"a":{}},"workloads":{"w":{}},"runs":[`
	for name, file := range map[string]string{
		"no JSON":          `{`,
		"another kind":     `{"kind":"curves",` + runs + `{"engine":"a","workload":"w","per_s":1}]}`,
		"no runs":          `{"kind":"compare",` + runs + `]}`,
		"unknown engine":   `{"kind":"compare",` + runs + `{"engine":"b","workload":"w","per_s":1}]}`,
		"unknown workload": `{"kind":"compare",` + runs + `{"engine":"a","workload":"v","per_s":1}]}`,
		"unknown field":    `{"kind":"compare",` + runs + `{"engine":"a","workload":"w","per_s":1,"x":1}]}`,
		"neither":          `{"kind":"compare",` + runs + `{"engine":"a","workload":"w"}]}`,
		"both":             `{"kind":"compare",` + runs + `{"engine":"a","workload":"w","per_s":1,"error":"e"}]}`,
	} {
		path := filepath.Join(t.TempDir(), "peers.json")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := read(path, new(peersFile)); !errors.Is(err, errMeasurements) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}
