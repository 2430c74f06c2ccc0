package cpuexec

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/model"
	"github.com/cbactor/cbactor/weights"
)

// synthetic is a model with random weights, a weights.Source.
type synthetic struct {
	model.Config
	values map[string][]float32
}

func newSynthetic(c model.Config) *synthetic {
	s := &synthetic{Config: c, values: map[string][]float32{}}
	r := rand.New(rand.NewPCG(11, 11))
	for _, t := range c.Tensors() {
		v := make([]float32, t.Elements())
		for i := range v {
			v[i] = float32(r.NormFloat64() * 0.4)
		}
		s.values[t.Name] = v
	}
	return s
}

// Tensors implements weights.Source.
func (s *synthetic) Tensors() []model.Tensor {
	list := s.Config.Tensors()
	for i := range list {
		list[i].DType = model.F32
	}
	return list
}

// ReadTensor implements weights.Source.
func (s *synthetic) ReadTensor(name string, dst []byte) error {
	_, err := binary.Encode(dst, binary.LittleEndian, s.values[name])
	return err
}

// times is x times a weight matrix [out][len(x)], plus a bias if there is one.
func (s *synthetic) times(x []float64, name string) []float64 {
	w := s.values[name+".weight"]
	out := make([]float64, len(w)/len(x))
	for i := range out {
		for k, v := range x {
			out[i] += v * float64(w[i*len(x)+k])
		}
		if b := s.values[name+".bias"]; b != nil {
			out[i] += float64(b[i])
		}
	}
	return out
}

func (s *synthetic) norm(x []float64, name string) []float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v / math.Sqrt(sum/float64(len(x))+s.NormEps) * float64(s.values[name+".weight"][i])
	}
	return out
}

// rotate turns the pairs (i, i+HeadDim/2) of every head by the angles of pos.
func (s *synthetic) rotate(x []float64, pos int) {
	inv, scale := s.InvFreq(model.Full)
	for h := 0; h < len(x); h += s.HeadDim {
		for i, f := range inv {
			sin, cos := math.Sincos(float64(pos) * f)
			a, b := x[h+i], x[h+len(inv)+i]
			x[h+i], x[h+len(inv)+i] = (a*cos-b*sin)*scale, (b*cos+a*sin)*scale
		}
	}
}

// logits is the forward pass the textbook way, in float64, after the last of ids.
func (s *synthetic) logits(ids []int32) []float64 {
	x := make([][]float64, len(ids))
	for p, id := range ids {
		for _, v := range s.values["model.embed_tokens.weight"][int(id)*s.Hidden:][:s.Hidden] {
			x[p] = append(x[p], float64(v))
		}
	}
	for l := range s.Layers {
		s.layer(x, l)
	}
	last := s.norm(x[len(x)-1], "model.norm")
	if s.TiedHead {
		return s.times(last, "model.embed_tokens")
	}
	return s.times(last, "lm_head")
}

func (s *synthetic) layer(x [][]float64, number int) {
	prefix := model.LayerPrefix(number)
	var ks, vs [][]float64
	for p := range x {
		h := s.norm(x[p], prefix+"input_layernorm")
		q, k := s.times(h, prefix+"self_attn.q_proj"), s.times(h, prefix+"self_attn.k_proj")
		s.rotate(q, p)
		s.rotate(k, p)
		ks, vs = append(ks, k), append(vs, s.times(h, prefix+"self_attn.v_proj"))
		var heads []float64
		from := 0
		if number < len(s.Attn) && s.Attn[number] == model.Sliding {
			from = max(0, p+1-s.Window)
		}
		for h := range s.Heads {
			kv, sink := h/(s.Heads/s.KVHeads)*s.HeadDim, math.Inf(-1)
			if s.Sinks {
				sink = float64(s.values[prefix+"self_attn.sinks"][h])
			}
			heads = append(heads, s.attend(q[h*s.HeadDim:][:s.HeadDim], ks[from:], vs[from:], kv, sink)...)
		}
		add(x[p], s.times(heads, prefix+"self_attn.o_proj"))
		h = s.norm(x[p], prefix+"post_attention_layernorm")
		gate, up := s.times(h, prefix+"mlp.gate_proj"), s.times(h, prefix+"mlp.up_proj")
		for i, g := range gate {
			up[i] *= g / (1 + math.Exp(-g))
		}
		add(x[p], s.times(up, prefix+"mlp.down_proj"))
	}
}

// attend is one query head over the key head that begins at kv.
func (s *synthetic) attend(q []float64, ks, vs [][]float64, kv int, sink float64) []float64 {
	scale := s.AttnScale
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(s.HeadDim))
	}
	out, sum := make([]float64, s.HeadDim), math.Exp(sink)
	for j := range ks {
		score := 0.0
		for d, v := range q {
			score += v * ks[j][kv+d]
		}
		if score *= scale; s.AttnSoftcap != 0 {
			score = s.AttnSoftcap * math.Tanh(score/s.AttnSoftcap)
		}
		w := math.Exp(score)
		sum += w
		for d := range out {
			out[d] += w * vs[j][kv+d]
		}
	}
	for d := range out {
		out[d] /= sum
	}
	return out
}

func add(x, y []float64) {
	for i := range x {
		x[i] += y[i]
	}
}

// odd has sizes that fit no register and no panel.
var odd = model.Config{
	Family: "llama", Vocab: 37, Hidden: 20, Intermediate: 45, Layers: 2, Heads: 6, KVHeads: 2, HeadDim: 6,
	MaxPosition: 128, NormEps: 1e-5, Rope: model.Rope{Kind: model.RopeDefault, Theta: 10000}, AttnBias: true, MLPBias: true,
}

// TestShapes computes models like odd, with every option of the family, both
// implementations of attention and all types of cache, and compares with the textbook. Over
// caches of fewer bits logits are off by a third of the bound.
func TestShapes(t *testing.T) {
	for _, change := range []func(c *model.Config){
		func(c *model.Config) {},
		func(c *model.Config) { c.TiedHead, c.MLPBias = true, false },
		func(c *model.Config) { c.KVHeads, c.HeadDim = 6, 80 },
		func(c *model.Config) { c.KVHeads, c.HeadDim, c.AttnBias = 1, 48, false },
		func(c *model.Config) { c.Heads, c.KVHeads, c.HeadDim = 1, 1, 2 },
		func(c *model.Config) { c.Hidden, c.Intermediate, c.Heads, c.HeadDim = 64, 32, 2, 128 },
	} {
		c := odd
		change(&c)
		m := newSynthetic(c)
		set, err := weights.Load(&m.Config, m, 1, "test")
		if err != nil {
			t.Fatal(err)
		}
		ids := make([]int32, 50)
		for i := range ids {
			ids[i] = int32(i * 7 % c.Vocab)
		}
		want := m.logits(ids)
		for _, name := range kernelNames() {
			for _, kv := range kvTypes {
				if kv == KVInt8 && c.HeadDim%4 != 0 {
					continue
				}
				bound := map[KVType]float64{KVF32: 2e-4, KVBF16: 0.02, KVInt8: 0.05}[kv]
				for _, attention := range []Attention{Tiled, Plain} {
					s := &sequence{ids: slices.Clone(ids), limit: 1}
					newDriver(t, Config{Model: &m.Config, Weights: set, Threads: 2, Kernels: name, PageSize: 9, MaxContext: 64, Attention: attention, KVType: kv}, 11, true).run(s)
					d := furthest(s.logits[0], want)
					if !(d < bound) {
						t.Errorf("%s, %s, cache in %s: logits differ by %g: %s", name, attention, kv, d, fmt.Sprintf("%+v", c))
					}
				}
			}
		}
	}
}
