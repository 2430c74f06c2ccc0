package server

import (
	"math"
	"strconv"
)

// bound is the lowest and the highest value of a number.
type bound struct{ low, high float64 }

// bounds are those of parameters that are numbers, by their names; times are in seconds.
var bounds = map[string]bound{
	"n":             {1, maxSequences},
	"max_tokens":    {0, math.MaxInt32},
	"min_tokens":    {0, math.MaxInt32},
	"top_k":         {-1, math.MaxInt32}, // -1, 0: all
	"priority":      {-100, 100},
	"logprobs":      {0, maxTop},
	"top_logprobs":  {0, maxTop},
	"max_staleness": {0, 1 << 30}, // as the engine has it

	"top_logprobs_num": {0, maxTop}, // SGLang's

	"temperature":        {0, 2},
	"top_p":              {math.SmallestNonzeroFloat32, 1},
	"min_p":              {0, 1},
	"presence_penalty":   {-2, 2},
	"frequency_penalty":  {-2, 2},
	"repetition_penalty": {0.1, 10},

	"timeout":             {0.001, maxSeconds},
	"first_token_timeout": {0.001, maxSeconds},
	"lease":               {0.001, maxSeconds},
}

// within refuses a number that is out of its bounds.
func within(name string, n float64) error {
	b := bounds[name]
	switch {
	case n >= b.low && n <= b.high:
		return nil
	case b.low == math.SmallestNonzeroFloat32:
		return bad(name, "is %s, must be above 0 and at most %s", digits(n), digits(b.high))
	}
	return bad(name, "is %s, must be from %s to %s", digits(n), digits(b.low), digits(b.high))
}

// digits writes a number without an exponent, which nobody would write for a whole one.
func digits(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
