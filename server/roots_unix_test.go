//go:build unix

package server

import (
	"path/filepath"
	"syscall"
	"testing"
)

// What is no file is not waited for.
func TestPathOfAPipe(t *testing.T) {
	c := serveChanging(t)
	dir := t.TempDir()
	c.withRoots(dir)
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	c.refused("/v1/weights/load", object{"path": pipe, "version": "v2"}, 400, "", "bad_safetensors")
}
