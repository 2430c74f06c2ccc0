package emu

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

//go:embed driver shim ptx cublaslt
var sources embed.FS

const compiler = "g++"

// common are the flags of everything. Sums and products are rounded one by one, as the
// kernels' own build has it.
var common = []string{"-std=c++17", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden"}

// builder builds libraries into the user's cache, each once for a hash of all that it is made of.
type builder struct {
	tb    testing.TB
	cache string
}

func newBuilder(tb testing.TB) *builder {
	tb.Helper()
	cache, err := os.UserCacheDir()
	if err != nil { // nobody has said where the home is
		cache = tb.TempDir()
	}
	cache = filepath.Join(cache, "cbactor", "emu")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		tb.Fatal(err)
	}
	return &builder{tb: tb, cache: cache}
}

// driver is the path of the fake driver.
func (b *builder) driver() string { return b.library("driver", nil, "driver/*.cc") }

// runner is the path of what runs kernels.
func (b *builder) runner(o Options) string {
	if o.PTX != "" {
		return b.library("ptx", nil, "ptx/*.cc")
	}
	kernels := o.Kernels
	if kernels == "" {
		kernels = filepath.Join(moduleRoot(b.tb), "cuda", "kernels", "src")
	}
	return b.library("shim", os.DirFS(kernels), "shim/*.cc")
}

// library builds what matches a pattern of sources, and all.cu of kernels, if there are any.
func (b *builder) library(name string, kernels fs.FS, pattern string) string {
	b.tb.Helper()
	flags := slices.Concat(common, instructions())
	sum := sha256.New()
	for _, f := range append(compilerIs(b.tb), flags...) {
		sum.Write([]byte(f + "\n"))
	}
	all := []fs.FS{sources}
	if kernels != nil {
		all = append(all, kernels)
	}
	for _, from := range all {
		if err := hashFiles(sum, from); err != nil {
			b.tb.Fatal(err)
		}
	}
	made := filepath.Join(b.cache, name+"-"+hex.EncodeToString(sum.Sum(nil)[:12])+".so")
	locked, err := lock(made + ".lock")
	if err != nil {
		b.tb.Fatal(err)
	}
	defer func() {
		if err := locked.Close(); err != nil {
			b.tb.Error(err)
		}
	}()
	if _, err := os.Stat(made); err == nil {
		return made
	}
	b.compile(made, flags, kernels, pattern)
	return made
}

// compilerIs is the version of the compiler and what it compiles for.
func compilerIs(tb testing.TB) []string {
	tb.Helper()
	var is []string
	for _, ask := range []string{"-dumpfullversion", "-dumpmachine"} {
		out, err := exec.Command(compiler, ask).Output()
		if err != nil {
			tb.Fatalf("%s %s: %v", compiler, ask, err)
		}
		is = append(is, string(out))
	}
	return is
}

// compile compiles into a folder of its own, and moves the library to where it is looked for.
func (b *builder) compile(made string, flags []string, kernels fs.FS, pattern string) {
	b.tb.Helper()
	dir := b.tb.TempDir()
	if err := os.CopyFS(dir, sources); err != nil {
		b.tb.Fatal(err)
	}
	args := append(slices.Clone(flags), "-o", "made.so", "-Ishim")
	units, err := fs.Glob(sources, pattern)
	if err != nil {
		b.tb.Fatal(err)
	}
	args = append(args, units...)
	if kernels != nil {
		if err := os.CopyFS(filepath.Join(dir, "kernels"), kernels); err != nil {
			b.tb.Fatal(err)
		}
		args = append(args, "-x", "c++", "kernels/all.cu")
	}
	cmd := exec.Command(compiler, append(args, "-ldl", "-lpthread")...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		b.tb.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	if err := install(made, filepath.Join(dir, "made.so")); err != nil {
		b.tb.Fatal(err)
	}
}
