package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cbactor/cbactor/cuda"
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
	flag.StringVar(&o.shapes, "shape", "0.5b,1.5b,4b,8b", "shapes of models, separated by commas: tiny, 0.5b, 1.5b, 4b, 8b")
	flag.StringVar(&o.driver, "driver", cuda.DefaultPath, "NVIDIA's driver")
	flag.IntVar(&o.ordinal, "device", 0, "number of the GPU")
	flag.StringVar(&o.out, "out", "", "file that the report is written to as JSON")
	flag.BoolVar(&o.little, "little", false, "measure little, for an emulated device: times mean nothing")
	flag.Parse()
	if err := run(&o, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "gpu:", err)
		os.Exit(1)
	}
}

// run measures, and writes what could be measured also where something could not.
func run(o *options, out, log io.Writer) error {
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
	r, measured := measure(d, version, strings.Split(o.shapes, ","), &p, func(format string, args ...any) {
		fmt.Fprintf(log, format+"\n", args...)
	})
	r.table(out)
	return errors.Join(measured, r.write(o.out))
}

// write writes the report to a file, if one is named.
func (r *report) write(name string) error {
	if name == "" {
		return nil
	}
	js, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(js, '\n'), 0o644)
}
