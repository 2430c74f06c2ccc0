package model

// Attention is the kind of attention of a layer. One cache group exists per kind.
type Attention uint8

const (
	Full    Attention = iota // every earlier position
	Sliding                  // the last Config.Window positions
)

// RopeKind names a way to stretch rotary embeddings.
type RopeKind string

const (
	RopeDefault RopeKind = "default"
	RopeLinear  RopeKind = "linear"
	RopeLlama3  RopeKind = "llama3"
	RopeYarn    RopeKind = "yarn"
)

// Rope is the configuration of the rotary embedding. Fields of other kinds are zero.
type Rope struct {
	Kind                RopeKind
	Theta               float64
	Factor              float64
	OriginalMaxPosition int       // llama3, yarn
	LowFreqFactor       float64   // llama3
	HighFreqFactor      float64   // llama3
	BetaFast, BetaSlow  float64   // yarn
	AttentionFactor     float64   // yarn; 0: computed
	MScale, MScaleAll   float64   // yarn
	Truncate            bool      // yarn; whether the correction range is rounded
	FreqDivisors        []float32 // GGUF rope_freqs: divisors of the plain inverse frequencies, head_dim/2 of them; nil: none
}

// Config is one model: the options over the forward pass.
type Config struct {
	Family       string // "llama"
	Vocab        int
	Hidden       int
	Intermediate int
	Layers       int
	Heads        int
	KVHeads      int
	HeadDim      int
	MaxPosition  int // context length in tokens
	NormEps      float64
	Rope         Rope
	TiedHead     bool // the output head is the embedding
	AttnBias     bool // q, k, v and o have biases
	MLPBias      bool
	Window       int         // tokens a sliding layer sees
	Attn         []Attention // per layer
	BOS          int32       // -1: none
	EOS          []int32     // union of every source that names one
	Stored       DType       // the type most weights are stored in
}
