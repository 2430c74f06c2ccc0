package sampling

import (
	"errors"
	"fmt"
	"math"
)

// ErrParams is the class of every refused parameter.
var ErrParams = errors.New("bad sampling parameter")

// Params says how a request's tokens are drawn. The zero value is greedy.
type Params struct {
	Temperature float32 // 0: greedy
	TopK        int32   // keep the k most likely; 0: all
	TopP        float32 // keep the smallest set whose probability reaches p; 0 or 1: all
}

// Greedy says that no random number is drawn: the most likely token is taken.
func (p Params) Greedy() bool { return p.Temperature == 0 || p.TopK == 1 }

// Check refuses values outside their range, naming the field.
func (p Params) Check() error {
	bad := func(name, want string, v any) error {
		return fmt.Errorf("%w: %s is %v, must be %s", ErrParams, name, v, want)
	}
	if t := float64(p.Temperature); math.IsNaN(t) || t < 0 || t > 2 {
		return bad("temperature", "from 0 to 2", p.Temperature)
	}
	if p.TopK < 0 {
		return bad("top_k", "0 or more", p.TopK)
	}
	if t := float64(p.TopP); math.IsNaN(t) || t < 0 || t > 1 {
		return bad("top_p", "from 0 to 1", p.TopP)
	}
	return nil
}
