package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/cbactor/cbactor/internal/filelock"
)

func TestOneHasIt(t *testing.T) {
	if runtime.GOOS == "solaris" || runtime.GOOS == "aix" || runtime.GOOS == "plan9" {
		t.Skip("no locks here")
	}
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	first, second := open(), open()
	defer func() {
		if err := second.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := filelock.Lock(first); err != nil {
		t.Fatal(err)
	}
	if err := filelock.Lock(second); !errors.Is(err, filelock.ErrLocked) {
		t.Errorf("a second lock gives %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := filelock.Lock(second); err != nil {
		t.Errorf("after the end of the first: %v", err)
	}
}
