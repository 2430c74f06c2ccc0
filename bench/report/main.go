package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The folder of the measurements and charts, and the page beside it.
const (
	folder = "docs/performance"
	page   = "docs/performance.md"
)

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// write makes the page and the charts of the repository at root.
func write(root string) error {
	files, err := pages(root)
	if err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(root, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pages are the files that the measurements of a repository give, by their names from its
// root.
func pages(root string) (map[string][]byte, error) {
	peers, curves := new(peersFile), new(curvesFile)
	for name, v := range map[string]checker{"peers.json": peers, "curves.json": curves} {
		if err := read(filepath.Join(root, folder, name), v); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	notes, err := os.ReadFile(filepath.Join(root, folder, "notes.md"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // none: there is nothing to say about the figures
		return nil, err
	}
	files := map[string][]byte{page: []byte(markdown(peers, curves, string(notes)))}
	for name, svg := range peers.charts() {
		files[folder+"/"+name] = svg
	}
	for name, svg := range curves.charts() {
		files[folder+"/"+name] = svg
	}
	return files, nil
}
