package engine

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/executor"
)

// What an engine runs with survives JSON: every setting keeps its value and its type.
func TestInfoSurvivesJSON(t *testing.T) {
	m, err := checkpoint.Open(checkpoint.Embedded)
	if err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []Config{{Executor: executor.NewEcho(executor.EchoConfig{Blocks: 64})}, {Checkpoint: m, Seed: 1<<63 + 5, Hints: Hints{MaxPrompt: 7}, UseCUDAGraph: &Graphs{Decode: true},
		DecodeCompileConfig: &Compile{Mode: "default"}, CPUGroupTimeout: Forever}} {
		infoSurvives(t, cfg)
	}
}

func infoSurvives(t *testing.T, cfg Config) {
	r, err := Resolve(cfg)
	if err != nil {
		t.Fatal(err)
	}
	want, err := r.Info()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Info
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	for i, s := range got.Settings {
		if s.Text() != want.Settings[i].Text() {
			t.Errorf("%s is %s, want %s", s.Name, s.Text(), want.Settings[i].Text())
		}
	}
}

// Values that no field can have are refused, and a field of another version is kept as it is.
func TestSettingsOfOthers(t *testing.T) {
	for text, want := range map[string]any{
		`{"name":"seed","value":"x"}`:        nil,
		`{"name":"page_size","value":[1]}`:   nil,
		`{"name":"page_size","value":{}}`:    nil,
		`{"name":"newer","value":{"a":[1]}}`: map[string]any{"a": []any{1.0}},
		`{"name":"page_size","value":16}`:    16,
	} {
		var s Setting
		err := json.Unmarshal([]byte(text), &s)
		if (err != nil) != (want == nil) || err == nil && !reflect.DeepEqual(s.Value, want) {
			t.Errorf("%s: %v (%v), want %v", text, s.Value, err, want)
		}
	}
}
