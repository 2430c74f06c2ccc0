package fuzztest

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// maxInput is how long inputs are that are kept, in bytes.
const maxInput = 16 << 10

// readCorpus reads the inputs that were kept: lines of Go strings, compressed. A file that
// is not there has none.
func readCorpus(path string) (inputs []string, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	z, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 8*maxInput)
	for lines.Scan() {
		input, err := strconv.Unquote(lines.Text())
		if err != nil {
			return nil, fmt.Errorf("%s: line %d is no Go string", path, len(inputs)+1)
		}
		inputs = append(inputs, input)
	}
	return inputs, lines.Err()
}

// writeCorpus writes what readCorpus reads.
func writeCorpus(w io.Writer, inputs []string) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	for _, input := range inputs {
		if _, err := io.WriteString(z, strconv.Quote(input)+"\n"); err != nil {
			return err
		}
	}
	return z.Close()
}

// parseFound reads the file of an input as package testing writes it: a line that names the
// format, and the input as a Go expression. One that has other inputs was found by a fuzzer
// that was another once.
func parseFound(data string) (input string, ok bool) {
	format, value, _ := strings.Cut(strings.TrimSuffix(data, "\n"), "\n")
	inside := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(value, "[]byte("), "string("), ")")
	input, err := strconv.Unquote(inside)
	return input, err == nil && format == "go test fuzz v1"
}
