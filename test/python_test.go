package test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/internal/wire/wiretest"
)

// python is the interpreter that test/python.sh has set up for the example.
func python(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../bin/python-client/bin/python")
	if err == nil {
		_, err = os.Stat(path)
	}
	switch {
	case err == nil:
		return path
	case os.Getenv("CBACTOR_REQUIRE_ASSETS") != "":
		t.Fatalf("%v: run test/python.sh", err)
	}
	t.Skipf("%v: run test/python.sh", err)
	return ""
}

// pythonLine is what demo.py says, each line something else.
type pythonLine struct {
	Mode      string
	Version   string
	Open      *int
	Piece     *string
	IDs       []int32
	Text      string
	Reason    string
	Cancelled string
	Paused    string
	Released  string
	Late      string
	Refused   string
}

// A client in another language, made from the .proto files, gets what a client in Go does, over
// connections that are cut while it reads.
func TestPythonClient(t *testing.T) {
	t.Parallel()
	interpreter := python(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dir := t.TempDir() // modules are made beside the program, where they are found first
	if err := os.CopyFS(dir, os.DirFS("../examples/python-client")); err != nil {
		t.Fatal(err)
	}
	protos, err := filepath.Abs("../messages")
	if err != nil {
		t.Fatal(err)
	}
	make := exec.CommandContext(ctx, interpreter, "-m", "grpc_tools.protoc", "-I.", "-I"+protos, "--python_out=.", "remoting.proto", "remote.proto")
	make.Dir = dir
	if out, err := make.CombinedOutput(); err != nil {
		t.Fatalf("the modules of the messages: %v\n%s", err, out)
	}
	proxy := wiretest.NewProxy(t, newServer(t).address)
	demo := exec.CommandContext(ctx, interpreter, "demo.py", proxy.Addr())
	demo.Dir, demo.Stderr = dir, os.Stderr
	stdout, err := demo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	said, pieces, cuts := readDemo(t, bufio.NewScanner(stdout), proxy)
	if status := exitStatus(t, demo.Wait()); status != 0 {
		t.Fatalf("exit status %d", status)
	}
	if cuts < 3 {
		t.Errorf("%d connections were cut: the test shows nothing", cuts)
	}
	story := generateJSON(t, "", "--temperature", "0", "--max-new-tokens", "300", "--ignore-eos", "--prompt", "Once upon a time")[0]
	if said.Text != story.Text || pieces != story.Text || !slices.Equal(said.IDs, story.TokenIDs) {
		t.Errorf("it has read %q in pieces, %q in all, %v\nwant %q, %v", pieces, said.Text, said.IDs, story.Text, story.TokenIDs)
	}
	want := pythonLine{Mode: "running", Version: "default", Text: said.Text, Reason: "length", Cancelled: "cancelled",
		Paused: "paused", Released: "running", Late: "hold_lost", Refused: "invalid_token_id"}
	said.IDs, said.Open, said.Piece = nil, nil, nil
	if got, wanted := asJSON(t, said), asJSON(t, want); got != wanted {
		t.Errorf("it says %s\nwant %s", got, wanted)
	}
}

// readDemo reads what demo.py says, and cuts its connection again and again while it reads
// the story.
func readDemo(t *testing.T, lines *bufio.Scanner, proxy *wiretest.Proxy) (said pythonLine, pieces string, cuts int) {
	t.Helper()
	var story strings.Builder
	for n := 0; lines.Scan(); n++ {
		dec := json.NewDecoder(strings.NewReader(lines.Text()))
		dec.DisallowUnknownFields()
		said.Piece = nil
		if err := dec.Decode(&said); err != nil {
			t.Fatalf("line %q: %v", lines.Text(), err)
		}
		if said.Piece != nil {
			story.WriteString(*said.Piece)
			if n%2 == 1 {
				cuts += proxy.Cut()
			}
		}
	}
	return said, story.String(), cuts
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
