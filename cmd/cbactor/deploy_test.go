package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
)

// deployed reads a file of deploy/, with lines that are broken put together.
func deployed(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), "\\\n", "")
}

// after are the rests of the lines that begin so.
func after(text, begin string) (list []string) {
	for line := range strings.Lines(text) {
		if rest, is := strings.CutPrefix(strings.TrimSpace(line), begin); is {
			list = append(list, rest)
		}
	}
	return list
}

// parse refuses a command line that the command does not take.
func parse(t *testing.T, args []string) (value func(flag string) string) {
	t.Helper()
	cmd, rest, err := (&cli{console: show.NewConsole(os.Stderr)}).root().Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	return func(flag string) string { return cmd.Flags().Lookup(flag).Value.String() }
}

// What a container runs are commands that there are.
func TestDockerfileCommands(t *testing.T) {
	file := deployed(t, "Dockerfile")
	commands := after(file, "CMD ")
	for _, line := range after(file, "HEALTHCHECK ") {
		_, command, _ := strings.Cut(line, "CMD ")
		commands = append(commands, strings.Replace(command, `"/cbactor", `, "", 1))
	}
	if len(commands) != 2 {
		t.Fatalf("%q", commands)
	}
	for _, c := range commands {
		var args []string
		if err := json.Unmarshal([]byte(c), &args); err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		parse(t, args)
	}
	for _, must := range []string{"USER 65532:65532", "STOPSIGNAL SIGTERM", "FROM scratch", // and a folder of temporary files:
		"RUN mkdir -p /out/root/tmp && chmod 1777 /out/root/tmp", "COPY --from=build /out/root/ /"} {
		if !strings.Contains(file, "\n"+must+"\n") {
			t.Errorf("it has no line %s", must)
		}
	}
}

// What systemd runs is a command that there is, and has the time that it needs to end.
func TestUnitCommand(t *testing.T) {
	unit := deployed(t, "cbactor.service")
	commands, stops := after(unit, "ExecStart="), after(unit, "TimeoutStopSec=")
	if len(commands) != 1 || len(stops) != 1 {
		t.Fatalf("%q %q", commands, stops)
	}
	value := parse(t, strings.Fields(commands[0])[1:])
	drain, err := time.ParseDuration(value("drain"))
	if err != nil {
		t.Fatal(err)
	}
	stop, err := time.ParseDuration(stops[0] + "s")
	if err != nil {
		t.Fatal(err)
	}
	if least := drain + farewell + refusing + farewellOfSpans; stop < least+5*time.Second {
		t.Errorf("it is killed after %v, and may take %v to end", stop, least)
	}
}
