package test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal makes a pseudo-terminal: what a user sees, and the side of a
// program.
func openTerminal(t *testing.T, width, height uint16) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { closeFile(t, user) })
	n, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(user.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: width, Row: height}); err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return user, program
}

func closeFile(t *testing.T, f *os.File) {
	t.Helper()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// onTerminal runs the command on a terminal and gives what it showed, ends of
// lines as the program wrote them. Standard output is out, if that is not nil.
func onTerminal(t *testing.T, out io.Writer, args ...string) string {
	t.Helper()
	return onTerminalOf(t, 80, 30, out, command(t, args...))
}

// onTerminalOf is onTerminal for a terminal of so many cells.
func onTerminalOf(t *testing.T, width, height uint16, out io.Writer, cmd *exec.Cmd) string {
	t.Helper()
	user, program := openTerminal(t, width, height)
	cmd.Env = append(cmd.Env, "NO_COLOR=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	if out != nil {
		cmd.Stdout = out
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	closeFile(t, program)
	shown, err := io.ReadAll(user)
	if err != nil && !errors.Is(err, syscall.EIO) { // what ends a terminal nobody writes to any more
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, shown)
	}
	// Whether reading the model is slow enough to be mentioned is up to the machine.
	return strings.TrimPrefix(strings.ReplaceAll(string(shown), "\r\n", "\n"), "cbactor: reading model tiny\n")
}

var (
	tokenCounts = regexp.MustCompile(`prompt-2 +([1-9][0-9]*)  ?.`)
	bar         = regexp.MustCompile(`[0-3]/3 requests \[=*>?-*\] [0-9]+ tokens?, [0-9.]+ tokens/s, ETA [0-9ms]+`)
)

// Several prompts on a terminal: a block that follows each of them and a bar, then
// the whole texts in order and the summary.
func TestLiveBlock(t *testing.T) {
	cmd := command(t, "generate", "--temperature", "0", "--ignore-eos", "--max-new-tokens", "200", "--prompt", "One day", "--prompt", "Once upon a time", "--prompt", "A dog")
	cmd.Env = append(cmd.Env, "CBACTOR_CPU=generic") // slow enough that there is something to follow
	shown := onTerminalOf(t, 80, 30, nil, cmd)
	counts := map[string]bool{}
	for _, m := range tokenCounts.FindAllStringSubmatch(shown, -1) {
		counts[m[1]] = true
	}
	if len(counts) < 2 || !bar.MatchString(shown) {
		t.Errorf("the tokens of a request are shown as %v: %q", counts, shown)
	}
	last := 0
	for _, want := range []string{
		"==> prompt-1 <==\nOne day", "==> prompt-2 <==\nOnce upon a time, there was a little girl named Lily who lived", "==> prompt-3 <==\nA dog",
		"cbactor: 3 requests; ", " 600 generated in ",
	} {
		at := strings.Index(shown[last:], want)
		if at < 0 {
			t.Fatalf("%q does not follow: %q", want, shown[last:])
		}
		last += at
	}
	if strings.Contains(shown[last:], "requests [") {
		t.Errorf("the block stays: %q", shown[last:])
	}
}

// With results going elsewhere, the terminal has the block and the summary only.
func TestLiveBlockBesideAFile(t *testing.T) {
	var out bytes.Buffer
	shown := onTerminal(t, &out, "generate", "--json", "--temperature", "0", "--max-new-tokens", "8", "--prompt", "Once upon a time", "--prompt", "A dog")
	if all := results(t, out.String()); len(all) != 2 {
		t.Errorf("%d results", len(all))
	}
	if strings.Contains(shown, "==> prompt") || !strings.Contains(shown, "cbactor: 2 requests; ") {
		t.Errorf("the terminal shows %q", shown)
	}
}

// One prompt on a terminal streams, and nothing is drawn over it.
func TestOnePromptOnATerminal(t *testing.T) {
	shown := onTerminal(t, nil, "generate", "--temperature", "0", "--max-new-tokens", "8", "--prompt", "Once upon a time")
	if !strings.HasPrefix(shown, "Once upon a time, there was a little girl named Lily\ncbactor: 1 request; ") {
		t.Errorf("shown: %q", shown)
	}
}

// Without a prompt on a terminal the embedded model tells stories.
func TestNoPromptOnATerminal(t *testing.T) {
	if shown := onTerminal(t, nil, "generate", "--max-new-tokens", "3"); !strings.Contains(shown, "==> prompt-4 <==\nThere was a bird") {
		t.Errorf("shown: %q", shown)
	}
}

// Nothing is drawn where there is no room for it, or where the terminal cannot.
func TestTerminalsWithoutABlock(t *testing.T) {
	for name, c := range map[string]struct {
		width, height uint16
		term          string
	}{"low": {80, 8, "xterm"}, "narrow": {30, 30, "xterm"}, "dumb": {80, 30, "dumb"}} {
		cmd := command(t, "generate", "--max-new-tokens", "200", "--prompt", "One day", "--prompt", "A dog")
		cmd.Env = append(cmd.Env, "TERM="+c.term)
		shown := onTerminalOf(t, c.width, c.height, nil, cmd)
		if strings.Contains(shown, "\x1b[") || !strings.Contains(shown, "==> prompt-2 <==\nA dog") {
			t.Errorf("%s: shown %q", name, shown)
		}
	}
}
