package server

import (
	"reflect"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// Weights are compared with what their checksum was; whoever would set them to zero is refused.
func TestWeightChecker(t *testing.T) {
	c := serveChanging(t)
	const path = "/weight_checker"
	before := c.told(path, `{"action":"checksum"}`)["checksums"].(map[string]any)
	if _, known := before["weights"]; !known || len(before) != 1 {
		t.Fatalf("%v", before)
	}
	compare := func(baseline map[string]any, wrong ...any) {
		t.Helper()
		var a any
		c.control(path, object{"action": "compare", "baseline": baseline}, &a)
		want := object{"match": len(wrong) == 0, "mismatches": append([]any{}, wrong...)}
		if !reflect.DeepEqual(a, any(want)) {
			t.Errorf("%v: %v, want %v", baseline, a, want)
		}
	}
	compare(before)
	compare(object{}, "weights")
	compare(object{"weights": before["weights"], "b": "1", "a": "2"}, "a", "b")
	c.update("other", engine.KVKeep)
	compare(before, "weights")
	if err := c.engine.Rollback(t.Context(), c.engine.Kept(), engine.KVKeep); err != nil {
		t.Fatal(err)
	}
	compare(before)

	c.refused(path, `{"action":"reset"}`, 400, "action", "invalid_value")
	c.refused(path, `{}`, 400, "action", "invalid_value")
	c.refused(path, `{"action":"compare"}`, 400, "baseline", "invalid_value")
	echo := serveEcho(t, executor.EchoConfig{Blocks: 16}, engine.Config{}, Options{})
	echo.refused(path, `{"action":"checksum"}`, 501, "", "no_weights")
}
