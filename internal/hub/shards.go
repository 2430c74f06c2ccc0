package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"github.com/cbactor/cbactor/internal/hubcache"
)

// shardIndex says which file has which tensor, in the layout of the Hugging Face libraries.
type shardIndex struct {
	WeightMap map[string]string `json:"weight_map"` // files, by tensors
}

// withShards adds the files that an index of tensors names to the names that were chosen
// for what a model needs.
func (p *pull) withShards(ctx context.Context, names []string) ([]string, error) {
	r := p.request
	if len(r.Include) > 0 || r.Ref.File != "" || !slices.Contains(names, tensorIndex) {
		return names, nil
	}
	index, err := p.index(ctx)
	if err != nil {
		return nil, err
	}
	if len(index.WeightMap) == 0 {
		return nil, fmt.Errorf("%w: %s of %s names no tensors; with --include PATTERN files are fetched", ErrChoice, tensorIndex, r.Ref.Repo())
	}
	seen := map[string]bool{}
	for _, shard := range index.WeightMap {
		if seen[shard] {
			continue
		}
		seen[shard] = true
		if _, listed := p.listing.files[shard]; !listed {
			return nil, fmt.Errorf("%w: %s names %.80q, which %s does not have", ErrChoice, tensorIndex, shard, r.Ref.Repo())
		}
		if !slices.Contains(names, shard) {
			names = append(names, shard)
		}
	}
	return names, nil
}

// index reads the index of tensors: that of the folder where it is the one that is listed.
func (p *pull) index(ctx context.Context) (index shardIndex, err error) {
	want := p.listing.files[tensorIndex]
	if want.Size > maxPage {
		return index, fmt.Errorf("%w: %s is longer than %d bytes", ErrAnswer, tensorIndex, maxPage)
	}
	if p.record.Files[tensorIndex] == want {
		if js, err := os.ReadFile(p.path(tensorIndex)); err == nil && hasDigest(js, want) {
			return index, json.Unmarshal(js, &index)
		}
	}
	_, err = p.client.ask(ctx, p.address(tensorIndex), tensorIndex, &index)
	return index, err
}

// hasDigest says whether bytes are those of a file.
func hasDigest(b []byte, want hubcache.File) bool {
	h := newHasher(want)
	h.Write(b) // a hash gives no errors
	return int64(len(b)) == want.Size && h.digest() == want.Digest
}
