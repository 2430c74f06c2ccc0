package main

import (
	"errors"
	"os"
	"strings"

	"github.com/cbactor/cbactor/bench"
)

// readCases reads the cases of a workload. Of a file with one workload none needs to
// be named.
func readCases(path, name string) (cases []bench.Case, found string, err error) {
	workloads, err := readWorkloads(path)
	if err != nil {
		return nil, "", err
	}
	names := workloads.Names()
	if name == "" && len(names) > 1 {
		return nil, "", badUsage("which workload? Give --name: there are %s", strings.Join(names, ", "))
	}
	if name == "" {
		name = names[0]
	}
	cases, err = workloads.Get(name)
	if err != nil {
		return nil, "", badUsage("--name: %w", err)
	}
	return cases, name, nil
}

// readWorkloads reads a file, or with "" the project's workloads.
func readWorkloads(path string) (w bench.Workloads, err error) {
	if path == "" {
		return bench.Default()
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, badFile("--workload", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if w, err = bench.Read(file); err != nil {
		return nil, badFile("--workload "+path, err)
	}
	return w, nil
}
