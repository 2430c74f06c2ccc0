package engine

import (
	"errors"
	"testing"

	"github.com/cbactor/cbactor/cpuexec"
	"github.com/cbactor/cbactor/executor"
)

// An engine's profile has all steps with tokens that it made, over its sessions, and the
// time between them; it is refused where nobody would fill it.
func TestProfile(t *testing.T) {
	p := new(cpuexec.Profile)
	e := spawnTiny(t, Config{Profile: p})
	for range 2 {
		outputs, err := e.GenerateBatch(t.Context(), []Request{{PromptIDs: []int32{5, 6, 7, 8, 9}, MaxNewTokens: 10, IgnoreEOS: true}}, BatchOptions{})
		if err = errors.Join(err, outputs[0].Err); err != nil {
			t.Fatal(err)
		}
		if err := e.Stop(t.Context(), StopOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	prefill, decode := p.Of(cpuexec.Prefill), p.Of(cpuexec.Decode)
	if prefill.Steps != 2 || prefill.Tokens != 10 || decode.Steps != 18 || decode.Gaps != 18 || prefill.Gaps != 0 {
		t.Errorf("prefill %+v\ndecode %+v", prefill, decode)
	}
	if _, err := Spawn(t.Context(), Config{Executor: executor.NewEcho(executor.EchoConfig{}), Profile: p}); !errors.Is(err, ErrConfig) {
		t.Errorf("with an executor of the caller's: %v", err)
	}
}
