package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/gpuexec"
)

// options are the program's flags.
type options struct {
	shapes  string
	driver  string
	ordinal int
	out     string
	little  bool
}

func main() {
	var o options
	flag.StringVar(&o.shapes, "shape", "8b,0.5b,1.5b,4b", "shapes of models, separated by commas: tiny, 0.5b, 1.5b, 4b, 8b")
	flag.StringVar(&o.driver, "driver", cmp.Or(os.Getenv(gpuexec.Library), cuda.DefaultPath), "NVIDIA's driver")
	flag.IntVar(&o.ordinal, "device", 0, "number of the GPU")
	flag.StringVar(&o.out, "out", "", "file that the report is written to as JSON")
	flag.BoolVar(&o.little, "little", false, "measure little, for an emulated device: times mean nothing")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "gpu: %q is no flag: -h tells which there are\n", flag.Arg(0))
		os.Exit(2)
	}
	if err := run(&o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "gpu:", err)
		os.Exit(1)
	}
}

// run measures, and writes what is measured as it comes, also where something else cannot be.
func run(o *options, out io.Writer) error {
	names := strings.Split(o.shapes, ",")
	for _, name := range names {
		if _, _, err := shapeNamed(name); err != nil {
			return err
		}
	}
	lib, err := cuda.Open(o.driver)
	if err != nil {
		return err
	}
	version, err := lib.Version()
	if err != nil {
		return err
	}
	d, err := lib.Device(o.ordinal)
	if err != nil {
		return err
	}
	p := forGPU
	if o.little {
		p = forEmulator
	}
	return measure(d, version, names, &p, func(r *report) error {
		return errors.Join(r.table(out), r.write(o.out))
	})
}

// write writes the report to a file, if one is named, which is whole whenever the program is killed.
func (r *report) write(name string) error {
	if name == "" {
		return nil
	}
	js, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(name+".part", append(js, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(name+".part", name)
}
