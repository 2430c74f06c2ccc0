package gateway_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/gateway"
	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/messages"
)

func testdata(parts ...string) string {
	return filepath.Join(append([]string{"..", "..", "test", "testdata"}, parts...)...)
}

func adapterFile(m *messages.AdapterFile) *messages.Call {
	return &messages.Call{What: &messages.Call_AdapterFile{AdapterFile: m}}
}

// sendFile sends a file of an adapter in pieces.
func sendFile(c *client, name, file string, data []byte) {
	c.t.Helper()
	for at := 0; at < len(data); at += 1000 {
		c.do(adapterFile(&messages.AdapterFile{Name: name, File: file, Size: uint64(len(data)), Offset: uint64(at), Data: data[at:min(at+1000, len(data))]}))
	}
}

func load(name string) *messages.Call {
	return &messages.Call{What: &messages.Call_LoadAdapter{LoadAdapter: &messages.LoadAdapter{Name: name}}}
}

// An adapter is sent file by file, loaded, named by requests, and unloaded.
func TestAdapters(t *testing.T) {
	model, err := checkpoint.Open(testdata("families", "llama"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	}()
	r := serve(t, engine.Config{Checkpoint: model, Executor: executor.NewEcho(executor.EchoConfig{Blocks: 64, Adapters: 2})}, gateway.Options{Limits: gateway.Limits{Adapters: 1 << 20}})
	c := join(t, r)
	c.fails(load("a"), engine.ErrAdapter)
	for _, file := range []string{"adapter_config.json", "adapter_model.safetensors"} {
		data, err := os.ReadFile(testdata("adapters", "bf16", file))
		if err != nil {
			t.Fatal(err)
		}
		sendFile(c, "a", file, []byte("what was sent before it is begun again"))
		sendFile(c, "a", file, data)
	}
	c.do(load("a"))
	if list := r.engine.Adapters(); len(list) != 1 || list[0].Name != "a" {
		t.Errorf("%v", list)
	}
	if s := c.do(&messages.Call{What: &messages.Call_Status{Status: &messages.AskStatus{}}}).GetStatus(); len(s.Adapters) != 1 || s.Adapters[0].Rank == 0 {
		t.Errorf("%v", s)
	}
	m := generate("", prompt(10, 1), 4)
	m.Request.Adapter = "a"
	h := c.whole(c.do(callOf(m)).GetAccepted().GetSequences()[0].Stream)
	if want := executor.EchoRef(prompt(10, 1), 4, 50021, 1+executor.EchoAdapter("a")); !slices.Equal(h.ids, want) {
		t.Errorf("%v, want %v", h.ids, want)
	}
	c.do(&messages.Call{What: &messages.Call_UnloadAdapter{UnloadAdapter: &messages.UnloadAdapter{Name: "a"}}})
	c.fails(callOf(m), engine.ErrUnknownAdapter)

	config := "adapter_config.json"
	c.fails(adapterFile(&messages.AdapterFile{Name: "b", File: "../x"}), engine.ErrAdapter)
	c.fails(adapterFile(&messages.AdapterFile{Name: "b", File: config, Size: 1 << 40}), convert.ErrLimit)
	c.fails(adapterFile(&messages.AdapterFile{Name: "b", File: config, Size: 10, Offset: 5, Data: []byte{1}}), engine.ErrAdapter)
	c.fails(adapterFile(&messages.AdapterFile{Name: "b", File: config, Size: 1, Data: []byte{1, 2}}), engine.ErrAdapter)
	c.do(adapterFile(&messages.AdapterFile{Name: "b", File: config, Size: 10, Data: []byte{1}}))
	c.fails(load("b"), engine.ErrAdapter)
	for i := range 3 {
		big := adapterFile(&messages.AdapterFile{Name: "c", File: config, Size: 1 << 20, Offset: uint64(i) << 19, Data: make([]byte, 1<<19)})
		if i < 1 {
			c.do(big)
		} else {
			c.fails(big, convert.ErrLimit)
		}
	}
}

// The files of an adapter are a file system as any other.
func TestFolderIsAFileSystem(t *testing.T) {
	whole := []byte("a file that has come in some pieces of several sizes")
	var pieces [][]byte
	for rest := whole; len(rest) > 0; {
		n := min(len(rest), 1+len(pieces)%5)
		pieces, rest = append(pieces, rest[:n]), rest[n:]
	}
	folder := gateway.NewFolder("a.txt", pieces)
	if data, err := fs.ReadFile(folder, "a.txt"); err != nil || string(data) != string(whole) {
		t.Errorf("%q (%v)", data, err)
	}
	f, err := folder.Open("a.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := iotest.TestReader(f, whole); err != nil {
		t.Error(err)
	}
	if _, err := folder.Open("b.txt"); !is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
