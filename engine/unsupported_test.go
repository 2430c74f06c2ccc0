package engine

import (
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
)

func TestUnsupported(t *testing.T) {
	yes, zero, one, half := true, 0.0, 1.0, 0.5
	for _, c := range []struct {
		model checkpoint.Generation
		want  string
	}{
		{checkpoint.Generation{}, ""},
		{checkpoint.Generation{DoSample: &yes, RepetitionPenalty: &one, MinP: &zero}, ""},
		{checkpoint.Generation{RepetitionPenalty: &half, MinP: &half}, "repetition_penalty"},
		{checkpoint.Generation{DoSample: &yes, RepetitionPenalty: &half, MinP: &half}, "repetition_penalty min_p"},
	} {
		if got := strings.Join(Unsupported(c.model), " "); got != c.want {
			t.Errorf("%+v: %q, want %q", c.model, got, c.want)
		}
	}
}
