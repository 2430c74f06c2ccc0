package weights

import (
	"fmt"
	"testing"

	"github.com/cbactor/cbactor/model"
)

// benchConfig is a model of 60 MB in bf16.
func benchConfig() *model.Config {
	return &model.Config{Family: "llama", Vocab: 16384, Hidden: 576, Intermediate: 1536, Layers: 6, Heads: 9, KVHeads: 3, HeadDim: 64, TiedHead: true}
}

// BenchmarkUpdate stages, verifies, casts and commits a whole model, in chunks of
// 1 MiB, again and again in the memory of two sets. Beside it is the speed of a
// plain copy of as many bytes.
func BenchmarkUpdate(b *testing.B) {
	for _, run := range []struct {
		from, to model.DType
		digest   DigestKind
	}{
		{model.BF16, model.BF16, NoDigest},
		{model.BF16, model.BF16, XXH3_64},
		{model.BF16, model.BF16, SHA256},
		{model.F32, model.BF16, XXH3_64},
		{model.BF16, model.F32, XXH3_64},
		{model.BF16, model.F16, XXH3_64},
		{model.F16, model.BF16, XXH3_64},
	} {
		b.Run(fmt.Sprintf("%s-%s-%s", run.from, run.to, run.digest), func(b *testing.B) {
			c := benchConfig()
			first, err := Load(c, source(c, run.to), 1, "first")
			if err != nil {
				b.Fatal(err)
			}
			store, err := NewStore(c, first, Options{Limit: 2*size(listOf(c, run.to)) + 64<<20, Storage: run.to, Staging: 64 << 20})
			if err != nil {
				b.Fatal(err)
			}
			s := &sent{data: map[string][]byte{}}
			total := 0
			for _, tensor := range listOf(c, run.from) {
				s.add(tensor.Name, run.from.String(), tensor.Shape, numbers(run.from, tensor.Elements(), 1))
				total += tensor.Bytes()
			}
			if run.digest != NoDigest {
				s.digests(run.digest)
			}
			b.SetBytes(int64(total))
			for i := 0; b.Loop(); i++ {
				u, err := store.Begin("", fmt.Sprint(i), s.Manifest)
				if err != nil {
					b.Fatal(err)
				}
				for _, e := range s.Tensors {
					data := s.data[e.Name]
					for at := 0; at < len(data); at += 1 << 20 {
						if err := u.Put(e.Name, e.DType, e.Shape, at, data[at:min(at+1<<20, len(data))]); err != nil {
							b.Fatal(err)
						}
					}
				}
				if _, err := u.Commit(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("copy", func(b *testing.B) {
		src, dst := numbers(model.BF16, 30<<20, 1), make([]byte, 60<<20)
		b.SetBytes(int64(len(src)))
		for b.Loop() {
			copy(dst, src)
		}
	})
}

// BenchmarkCommit is what is left when everything is checked.
func BenchmarkCommit(b *testing.B) {
	c := benchConfig()
	c.Layers = 32
	first, err := Load(c, source(c, model.BF16), 1, "first")
	if err != nil {
		b.Fatal(err)
	}
	store, err := NewStore(c, first, Options{})
	if err != nil {
		b.Fatal(err)
	}
	s := &sent{data: map[string][]byte{}}
	for _, tensor := range listOf(c, model.BF16) {
		s.add(tensor.Name, "BF16", tensor.Shape, numbers(model.BF16, tensor.Elements(), 1))
	}
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		u, err := store.Begin("", fmt.Sprint(i), s.Manifest)
		if err != nil {
			b.Fatal(err)
		}
		if err := s.send(u); err != nil {
			b.Fatal(err)
		}
		if err := u.Check(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if _, err := u.Commit(); err != nil {
			b.Fatal(err)
		}
	}
}

func listOf(c *model.Config, t model.DType) []model.Tensor {
	list := c.Tensors()
	for i := range list {
		list[i].DType = t
	}
	return list
}

// BenchmarkOverwrite copies a whole model in place, once it was checked.
func BenchmarkOverwrite(b *testing.B) {
	c := benchConfig()
	first, err := Load(c, source(c, model.BF16), 1, "first")
	if err != nil {
		b.Fatal(err)
	}
	store, err := NewStore(c, first, Options{})
	if err != nil {
		b.Fatal(err)
	}
	s := &sent{data: map[string][]byte{}}
	for _, tensor := range listOf(c, model.BF16) {
		s.add(tensor.Name, "BF16", tensor.Shape, numbers(model.BF16, tensor.Elements(), 1))
	}
	send := func(put func(string, string, []int, int, []byte) error) error {
		for _, e := range s.Tensors {
			if err := put(e.Name, e.DType, e.Shape, 0, s.data[e.Name]); err != nil {
				return err
			}
		}
		return nil
	}
	b.SetBytes(int64(first.Bytes()))
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		o, err := store.Overwrite("", fmt.Sprint(i), s.Manifest)
		if err != nil {
			b.Fatal(err)
		}
		if err := o.Check(send); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if _, err := o.Write(send); err != nil {
			b.Fatal(err)
		}
	}
}
