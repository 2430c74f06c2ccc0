package remote_test

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/remote"
)

func TestAdaptersOnEither(t *testing.T) {
	folder := os.DirFS("../../test/testdata/adapters/patterns")
	test := func(t *testing.T, api engine.API) {
		ctx := t.Context()
		if err := api.LoadAdapter(ctx, "policy", folder); err != nil {
			t.Fatal(err)
		}
		list := api.Adapters()
		if len(list) != 1 || list[0].Name != "policy" || list[0].Rank == 0 || len(list[0].Modules) == 0 {
			t.Errorf("%+v", list)
		}
		out := add(t, api, engine.Request{PromptIDs: []int32{206}, MaxNewTokens: 6, Adapter: "policy"}).Wait(ctx)
		if !slices.Equal(out.TokenIDs, []int32{221, 247, 192, 30, 236, 67}) {
			t.Errorf("%v", out.TokenIDs)
		}
		for name, c := range map[string]struct {
			folder fs.FS
			want   error
		}{
			"policy":                  {folder, engine.ErrAdapterName},
			"\xff":                    {folder, engine.ErrAdapterName},
			"b":                       {fstest.MapFS{}, engine.ErrAdapter},
			"c":                       {fstest.MapFS{"adapter_config.json": {Data: []byte(`{"peft_type":"LORA","use_dora":true}`)}, "adapter_model.safetensors": {}}, engine.ErrAdapter},
			strings.Repeat("d", 2000): {folder, engine.ErrAdapterName},
		} {
			if err := api.LoadAdapter(ctx, name, c.folder); !errors.Is(err, c.want) {
				t.Errorf("%.20q: %v, want %v", name, err, c.want)
			}
		}
		if err := api.UnloadAdapter(ctx, "policy"); err != nil || len(api.Adapters()) != 0 {
			t.Errorf("%v, %v", err, api.Adapters())
		}
		if _, err := api.AddRequest(ctx, engine.Request{PromptIDs: []int32{206}, Adapter: "policy"}); !errors.Is(err, engine.ErrUnknownAdapter) {
			t.Errorf("%v", err)
		}
	}
	for _, where := range []string{"local", "remote"} {
		t.Run(where, func(t *testing.T) {
			model, err := checkpoint.Open("../../test/testdata/families/llama")
			if err != nil {
				t.Fatal(err)
			}
			r := serves(t, engine.Config{Checkpoint: model, MaxAdapters: 2, NumBlocks: 64}, nil, gateway.Options{})
			if where == "local" {
				test(t, r.engine)
				return
			}
			test(t, connect(t, r.addr(), remote.Options{}))
		})
	}
}
