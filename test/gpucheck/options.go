package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cbactor/cbactor/cuda"
	"github.com/cbactor/cbactor/gpuexec"
)

// options are the program's flags, which scripts/gpu-check explains.
type options struct {
	root        string
	out, driver string // "": the default, which emulated has others of
	emulated    bool
	limit       time.Duration // of all parts together
}

// parse reads the flags, in any order.
func parse(args []string) (*options, error) {
	o := &options{limit: 570 * time.Second}
	flags := flag.NewFlagSet("gpu-check", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // main tells what is wrong
	flags.StringVar(&o.root, "root", ".", "")
	flags.StringVar(&o.out, "out", "", "")
	flags.StringVar(&o.driver, "driver", "", "")
	flags.BoolVar(&o.emulated, "emulated", false, "")
	flags.Func("limit", "", func(text string) (err error) {
		if o.limit, err = time.ParseDuration(text); err != nil || o.limit <= 0 {
			return errors.New("it takes a duration, such as 5m or 9m30s")
		}
		return nil
	})
	err := flags.Parse(args)
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("%q is no flag", flags.Arg(0))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: see scripts/gpu-check --help", err)
	}
	return o, nil
}

// check is what the flags ask for, which can be run: all programs are there.
func (o *options) check() (*check, error) {
	root, err := filepath.Abs(o.root)
	if err != nil {
		return nil, err
	}
	c := &check{root: root, bin: filepath.Join(root, "bin", "gpu-check"), emulated: o.emulated}
	c.logs = filepath.Join(c.bin, "logs")
	if o.emulated {
		if o.driver != "" {
			return nil, errors.New("--emulated has a driver of its own: leave out --driver, or --emulated")
		}
		c.driver, c.out = filepath.Join(c.bin, "emulated", cuda.DefaultPath), cmp.Or(o.out, filepath.Join(c.bin, "record"))
		return c, c.complete("scripts/gpu-check-build --emulated builds it", c.driver)
	}
	c.driver, c.out = cmp.Or(o.driver, os.Getenv(gpuexec.Library), cuda.DefaultPath), cmp.Or(o.out, filepath.Join(root, "docs", "hardware"))
	if strings.ContainsRune(c.driver, filepath.Separator) { // parts run in other folders
		if c.driver, err = filepath.Abs(c.driver); err != nil {
			return nil, err
		}
	}
	return c, c.complete("make gpu-check, where Go is, and bring the folder along")
}

// complete tells which of the programs, and of some files, are not there, and what to do then.
func (c *check) complete(do string, files ...string) error {
	var lacks []string
	for _, p := range c.parts("") {
		if _, err := exec.LookPath(p.argv[0]); err != nil && !p.asks {
			lacks = append(lacks, filepath.Base(p.argv[0]))
		}
	}
	for _, file := range files {
		if _, err := os.Stat(file); err != nil {
			lacks = append(lacks, filepath.Base(file))
		}
	}
	if len(lacks) > 0 {
		return fmt.Errorf("%s lacks %s: %s", c.bin, strings.Join(lacks, ", "), do)
	}
	return nil
}
