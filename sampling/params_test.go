package sampling

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestParamsCheck(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		p     Params
		field string // "" when good
	}{
		{Params{}, ""},
		{Params{Temperature: 2, TopK: 1 << 30, TopP: 1}, ""},
		{Params{Temperature: 1e-10}, ""},
		{Params{Temperature: -0.1}, "temperature"},
		{Params{Temperature: 2.1}, "temperature"},
		{Params{Temperature: nan}, "temperature"},
		{Params{Temperature: inf}, "temperature"},
		{Params{TopK: -1}, "top_k"},
		{Params{TopP: -0.1}, "top_p"},
		{Params{TopP: 1.1}, "top_p"},
		{Params{TopP: nan}, "top_p"},
	} {
		err := c.p.Check()
		if c.field == "" && err != nil {
			t.Errorf("%+v: %v", c.p, err)
		}
		if c.field != "" && (!errors.Is(err, ErrParams) || !strings.Contains(err.Error(), c.field)) {
			t.Errorf("%+v: %v, want an ErrParams that names %s", c.p, err, c.field)
		}
	}
}
