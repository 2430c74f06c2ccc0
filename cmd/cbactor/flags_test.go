package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
)

// Every field is a flag that sets it, old names are hidden ones, and "=false" and a
// bare flag both work.
func TestFlagsAreTheFields(t *testing.T) {
	f := &engineFlags{}
	cmd := &cobra.Command{Use: "x"}
	f.add(cmd)
	var visible, hidden []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if name := strings.ReplaceAll(flag.Name, "-", "_"); flag.Hidden {
			hidden = append(hidden, name)
		} else if name != "model" && name != "config" {
			visible = append(visible, name)
		}
	})
	want, old := []string{}, engine.Deprecated()
	for _, field := range engine.Fields() {
		want = append(want, field.Name)
	}
	slices.Sort(want)
	slices.Sort(old)
	if !slices.Equal(visible, want) || !slices.Equal(hidden, old) {
		t.Errorf("flags %v and hidden %v, want %v and %v", visible, hidden, want, old)
	}
	err := cmd.ParseFlags([]string{"--page-size", "8", "--allow-block-sharing=false", "--return-logprobs", "--use-cuda-graph", "true,false", "--page-size=16"})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.check(); err != nil {
		t.Fatal(err)
	}
	c := f.config
	if c.PageSize != 16 || *c.AllowBlockSharing || !*c.ReturnLogprobs || *c.UseCUDAGraph != (engine.Graphs{Varlen: true}) || !c.Pin {
		t.Errorf("the configuration is %+v", c)
	}
}

// The prompts of a command are hints, unless the user gives some.
func TestHintsOfTheCommand(t *testing.T) {
	model := texts.New(nil, nil)
	words := "no tokenizer for this"
	in := &input{each: 1, total: 3, prompts: []texts.Prompt{{IDs: []int32{1, 2}}, {IDs: []int32{1}}, {Text: &words}}}
	if h := in.hints(t.Context(), model, 9); h != (engine.Hints{MaxPrompt: 2, MaxNew: 9, Requests: 3}) {
		t.Errorf("hints of prompts: %+v", h)
	}
	if h := (&input{each: 1, total: 7}).hints(t.Context(), model, 9); h != (engine.Hints{Requests: 7}) {
		t.Errorf("hints of a file: %+v", h)
	}
	var f engineFlags
	for _, c := range []struct{ give, want int }{{0, 0}, {3, 3}, {5, 3}} {
		if err := f.hint(engine.Hints{Requests: c.give}); err != nil || f.config.Hints.Requests != c.want {
			t.Errorf("after a hint of %d: %+v (%v)", c.give, f.config.Hints, err)
		}
	}
}
