package sampling

// History is what a sequence has so far: IDs, the first Prompt of them its prompt.
type History struct {
	IDs    []int32
	Prompt int32
}

// Logprob is the natural logarithm of a token's probability: Raw by the model's
// logits alone; Sampled in the distribution that the token was drawn from, after
// all processors and filters, -Inf outside of it, for greedy 0 for the token taken.
type Logprob struct {
	ID           int32
	Raw, Sampled float32
}

// Drawn is a token and what was asked to be told of it. Top is by descending Raw,
// lower ids first among equals. KeptCount is how many ids could be drawn; Kept has them,
// ascending, or none where there are more than MaxKept.
type Drawn struct {
	Logprob
	Top       []Logprob
	Kept      []int32
	KeptCount int32
}
