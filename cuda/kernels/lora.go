package kernels

import "github.com/cbactor/cbactor/cuda"

const (
	// LoraTokens is how many tokens an item of a Lora has at most: Small::TM of the source.
	LoraTokens = 16
	// LoraItem is how many int32 an item has. It is some tokens that follow one another and have
	// the same adapter: the first, how many, 0 for padding, the adapter's place, its rank there,
	// and the bits of the joints to which it adds.
	LoraItem = 5

	loraRange = 1024 // of K, over which a sum goes before sums are added
	loraSplit = 256  // up to so many tokens ranges are parts: of more there are blocks enough
)

// LoraItems is how many items so many tokens have at most, of so many places.
func LoraItems(tokens, places int) int { return min(tokens, tokens/LoraTokens+places) }

// Lora is what adapters add to the product of a joint: modules of a layer that have the same
// inputs and whose outputs lie one behind the other. A place has for each joint, one behind the
// other, A [Modules*rank][K] and B [N][rank], bf16: B with the adapter's scale, both with zeros
// where a module has a smaller rank.
type Lora struct {
	Delta    cuda.Pointer // bf16 [T][N]: rows of tokens to which nothing is added are not written
	Low      cuda.Pointer // LoraFloats
	X        cuda.Pointer // bf16 [T][K]
	Adapters cuda.Pointer // bf16: the first place
	Items    cuda.Pointer // [Count][LoraItem]

	Count, T, K int
	Joint       int // the joint's bit
	Modules     int // of the joint
	First, Rest int // outputs of the first module, and of each other
	Place       int // numbers from place to place
	Before      int // numbers that the joints before take, for each rank
	MaxRank     int // of a place; ranks are inner lengths, multiples of 32
}

// loraParts is how many parts of sums over K so many tokens have.
func loraParts(t, k int) int {
	if t > loraSplit {
		return 1
	}
	return over(k, loraRange)
}

// LoraFloats is the most float32 that Low takes for up to t tokens.
func LoraFloats(t, k, modules, maxRank int) int {
	return max(t, min(t, loraSplit)*loraParts(1, k)) * modules * maxRank
}

// Lora computes what adapters add: what a token gets depends on its own row and adapter, to the
// bit.
func (s *Set) Lora(stream *cuda.Stream, a *Lora) error {
	t := tiles[0]
	parts, width := loraParts(a.T, a.K), a.Modules*a.MaxRank
	err := s.functions[loraDown].Launch(stream, grid(over(width, t.n), a.Count, parts), grid(t.threads, 1, 1), 0,
		cuda.Address(a.Low), cuda.Address(a.X), cuda.Address(a.Adapters), cuda.Address(a.Items), cuda.Int(a.Joint),
		cuda.Long(a.Place), cuda.Long(a.Before), cuda.Int(a.Modules), cuda.Int(a.T), cuda.Int(a.K), cuda.Int(loraRange), cuda.Int(width))
	if err != nil {
		return err
	}
	columns := over(a.First, t.n) + (a.Modules-1)*over(a.Rest, t.n)
	return s.functions[loraUp].Launch(stream, grid(columns, a.Count, 1), grid(t.threads, 1, 1), 0,
		cuda.Address(a.Delta), cuda.Address(a.Low), cuda.Address(a.Adapters), cuda.Address(a.Items), cuda.Int(a.Joint),
		cuda.Long(a.Place), cuda.Long(a.Before+a.Modules*a.K), cuda.Int(parts), cuda.Int(a.T), cuda.Int(width),
		cuda.Int(a.First+(a.Modules-1)*a.Rest), cuda.Int(a.First), cuda.Int(a.Rest))
}

// Added is what Lora has computed, for who reads the product of the joint. None is the zero value.
type Added struct {
	Delta   cuda.Pointer
	Adapted cuda.Pointer // [T]: bits of the joints to which a token's adapter adds; absent: nothing is added
	Joint   int
}

func (a *Added) args() (delta, adapted, joint cuda.Arg) {
	return cuda.Address(a.Delta), cuda.Address(a.Adapted), cuda.Int(a.Joint)
}
