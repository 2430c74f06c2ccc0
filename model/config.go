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

// Activation is what the gate of an MLP goes through.
type Activation uint8

const (
	SiLU        Activation = iota
	GELUTanh               // the approximation with tanh
	ClampedSiLU            // of gpt-oss: gate and up are clamped, gate*sigmoid(1.702*gate)*(up+1)
)

// The figures of ClampedSiLU, those of the models that OpenAI released.
const (
	ClampAlpha = 1.702
	ClampLimit = 7.0
)

// NormPlace says where a layer's norms stand.
type NormPlace uint8

const (
	NormBefore NormPlace = iota // before attention and MLP
	NormAfter                   // of what they answer, before it is added
	NormAround                  // both
)

// QKNorm says how queries and keys are normalised before they are turned.
type QKNorm uint8

const (
	QKNormNone  QKNorm = iota
	QKNormHead         // each head, all by one weight of HeadDim
	QKNormWhole        // all heads of a token together
)

// MoE is a mixture of experts: of each token's router logits the largest PerToken choose.
type MoE struct {
	Experts      int
	PerToken     int
	Intermediate int    // of an expert
	ChosenOnly   bool   // the softmax is over the chosen ones; else over all, and
	Normalize    bool   // then what is chosen is divided by its sum
	RouterBias   bool   // the router has one, and so do experts
	Dense        []bool // per layer, true: it has one MLP instead; nil: none
}

// Config is one model: the options over the forward pass.
type Config struct {
	Family       string // a name of the table of families
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
	Window       int // tokens a sliding layer sees, itself among them

	Activation  Activation // of the gated MLP
	Norms       NormPlace
	NormOffset  float64 // added to the weight of every norm: 1 in Gemma
	QKNorm      QKNorm
	RotaryDim   int     // the first elements of a head that are turned; 0: all
	SlidingRope *Rope   // of sliding layers; nil: Rope
	NoRope      []bool  // per layer, true: nothing is turned; nil: none
	Sinks       bool    // each query head has a logit that takes weight and gives no value
	AttnScale   float64 // of q times k; 0: 1/sqrt(HeadDim)
	AttnSoftcap float64 // c*tanh(x/c) of q times k, scaled; 0: none
	OutNoBias   bool    // with AttnBias: o has none

	EmbedScale    float64 // embeddings are multiplied with it; 0: 1
	ResidualScale float64 // what a layer's halves add, likewise
	LogitScale    float64 // logits, likewise
	LogitSoftcap  float64 // c*tanh(x/c) of logits, scaled; 0: none

	MoE        *MoE        // nil: every layer has one MLP
	Attn       []Attention // per layer
	BOS        int32       // -1: none
	EOS        []int32     // union of every source that names one
	AssumedEOS bool        // config.json names none: they are the family's
	Stored     DType       // the type most weights are stored in

	part *Shard // nil: the whole model
}
