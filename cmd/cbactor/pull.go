package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
	"github.com/cbactor/cbactor/internal/hub"
	"github.com/cbactor/cbactor/internal/hubcache"
)

const pullHelp = `Copy a model of the Hugging Face hub, or of what speaks its routes, into the cache, where --model ORG/NAME
then finds it. Fetched is what a model needs: its configuration, tokenizer, chat template, and tensors in safetensors,
or else its one GGUF file. ORG/NAME:FILE is one file, named whole or by its quantisation (:Q4_K_M), and
ORG/NAME@REVISION a branch, a tag or a commit.

Files are compared with the digests that the hub lists. What is there is not fetched again; after Ctrl-C or a
failure the same command goes on where it was. HF_ENDPOINT is another hub than huggingface.co, and HF_TOKEN the token of a
user, which is sent to that hub alone.`

// pullFlags are the flags of `cbactor pull`.
type pullFlags struct {
	endpoint string
	revision string
	include  []string
	to       string
}

func (c *cli) pullCommand() *cobra.Command {
	f := &pullFlags{}
	cmd := &cobra.Command{
		Use: "pull ORG/NAME[@REVISION][:FILE]", Short: "Copy a model of the Hugging Face hub into the cache", Long: pullHelp,
		Example: "  cbactor pull HuggingFaceTB/SmolLM2-135M-Instruct\n  cbactor pull bartowski/SmolLM2-135M-Instruct-GGUF:Q8_0",
		Args:    oneArgument("the model as ORG/NAME"),
		RunE:    func(cmd *cobra.Command, args []string) error { return c.pull(cmd.Context(), f, args[0]) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.endpoint, "endpoint", "", "address of the hub (default: HF_ENDPOINT, else "+hub.DefaultEndpoint+")")
	fs.StringVar(&f.revision, "revision", "", "branch, tag or commit (default: main)")
	fs.StringArrayVar(&f.include, "include", nil, "fetch the files whose names match, with * and ?, instead of what a model needs (repeatable)")
	fs.Var(pathFlag{path: &f.to, made: true}, "to", "folder to write to (default: one in the cache)")
	return cmd
}

// ref is the model that is to be pulled.
func (f *pullFlags) ref(name string) (hubcache.Ref, error) {
	ref, ok := hubcache.ParseRef(name)
	if !ok {
		return ref, badUsage("%q is no model of a hub: give ORG/NAME, ORG/NAME@REVISION or ORG/NAME:FILE", name)
	}
	if f.revision != "" {
		if ref.Revision != hubcache.MainRevision {
			return ref, badUsage("%s and --revision both say the revision: leave one out", name)
		}
		if ref, ok = ref.WithRevision(f.revision); !ok {
			return ref, badUsage("--revision %q is no branch, tag or commit", f.revision)
		}
	}
	if len(f.include) > 0 && ref.File != "" {
		return ref, badUsage("--include and :%s both say what to fetch: leave one out", ref.File)
	}
	for _, p := range f.include {
		if _, err := path.Match(p, ""); err != nil {
			return ref, badUsage("--include %q is no pattern", p)
		}
	}
	return ref, nil
}

func (c *cli) pull(parent context.Context, f *pullFlags, name string) error {
	ref, err := f.ref(name)
	if err != nil {
		return err
	}
	endpoint, from := f.endpoint, "--endpoint"
	if endpoint == "" {
		endpoint, from = os.Getenv("HF_ENDPOINT"), "HF_ENDPOINT"
	}
	client, err := hub.New(hub.Options{Endpoint: endpoint, Token: os.Getenv("HF_TOKEN")})
	if err != nil {
		return badUsage("%s or HF_TOKEN: %w", from, err)
	}
	dir := f.to
	if dir == "" {
		cache, err := checkpoint.CacheDir()
		if err != nil {
			return err
		}
		dir = ref.Dir(cache)
	}
	ctx, stop := c.interrupts(parent, "stopping; what has come is kept")
	defer stop()
	start := time.Now()
	got, err := client.Pull(ctx, hub.Request{Ref: ref, Include: f.include, Dir: dir, Begin: func(n int64) hub.Progress { return c.bar(n) }})
	if errors.Is(err, hub.ErrNotFound) || errors.Is(err, hub.ErrChoice) {
		return badUsage("%w", err)
	}
	if err != nil {
		return fmt.Errorf("pull %s: %w", ref, err)
	}
	c.say("%s, commit %.12s: %s, %s, %s fetched in %.1f s", ref, got.Commit, words.Count(len(got.Files), "file"), mebibytes(got.Bytes), mebibytes(got.Fetched), time.Since(start).Seconds())
	return c.print(f.pulled(ref, dir, got.Files) + "\n")
}

// pulled is what to give to --model for what was pulled.
func (f *pullFlags) pulled(ref hubcache.Ref, dir string, files []string) string {
	switch {
	case f.to == "":
		return ref.String()
	case len(files) == 1 && hubcache.IsGGUF(files[0]):
		return filepath.Join(dir, filepath.FromSlash(files[0]))
	}
	return dir
}
