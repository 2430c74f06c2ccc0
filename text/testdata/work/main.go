// Command work counts what package text does to encode texts: how often each piece of its
// code, and of the packages that it gives texts to, ran. It is built with -cover
// -covermode=atomic by TestEncodingTakesLinearTime, which gives it on standard input what it
// encodes, and reads on its standard output how much each took.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"runtime/coverage"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/text"
)

// ask is what is to be encoded, by which tokenizer.
type ask struct {
	Tokenizer json.RawMessage   // a tokenizer.json, or
	Vocab     *checkpoint.Vocab // a vocabulary
	Texts     [][]byte
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "work:", err)
		os.Exit(1)
	}
}

func run() error {
	var asked ask
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return err
	}
	told := make([]uint64, len(asked.Texts))
	for i, s := range asked.Texts {
		codec, err := text.Load(&checkpoint.Checkpoint{TokenizerJSON: asked.Tokenizer, Vocab: asked.Vocab}) // none has a word in its cache
		if err != nil {
			return err
		}
		if err := coverage.ClearCounters(); err != nil {
			return err
		}
		if codec.EncodeRaw(string(s)) == nil {
			return text.ErrPattern
		}
		if told[i], err = counted(); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(told)
}

// counted is the sum of all counters. They come as Go's internal/coverage has them: a header
// of 32 bytes, one of a segment with how many functions, strings and arguments there are,
// these, and for each function how many counters it has, its package, its number and the
// counters, in ULEB128.
func counted() (sum uint64, err error) {
	var file bytes.Buffer
	if err := coverage.WriteCounters(&file); err != nil {
		return 0, err
	}
	file.Next(32)
	var segment struct {
		Functions          uint64
		Strings, Arguments uint32
	}
	if err := binary.Read(&file, binary.LittleEndian, &segment); err != nil {
		return 0, err
	}
	file.Next(int(segment.Strings + segment.Arguments))
	for range segment.Functions {
		counters, err := binary.ReadUvarint(&file)
		for i := uint64(0); err == nil && i < 2+counters; i++ {
			var n uint64
			if n, err = binary.ReadUvarint(&file); i >= 2 {
				sum += n
			}
		}
		if err != nil {
			return 0, err
		}
	}
	return sum, nil
}
