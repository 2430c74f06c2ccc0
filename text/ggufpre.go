package text

import "strings"

// The patterns of pre-tokenizers that are named in GGUF files, where no other file
// here has them: data of the models, as ggml-org/llama.cpp, src/llama-vocab.cpp lists
// them.
const (
	qwen35Pattern  = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	o200kPattern   = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	tekkenPattern  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	bailingPattern = `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+`
	seedPattern    = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+`
	deepseekWords  = `[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_` + "`" + `{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	deepseekLatin  = `\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+`
)

// preTokenizer is what a name in tokenizer.ggml.pre stands for: patterns, each of
// which cuts what the one before it left.
type preTokenizer struct {
	patterns     []string
	ignoreMerges bool // words that are a token are not merged
	nfc          bool // as the model's tokenizer.json says
}

// preTokenizers are the names that llama.cpp gives to pre-tokenizers. "smollm" is read
// as Transformers 5.23.0 reads it, whose ids are the reference: the pattern of GPT-2
// alone. llama.cpp cuts at every digit first, which gives other ids only for white
// space before a number and for numbers beyond 0-9, as the vocabulary has no tokens of
// several digits.
var preTokenizers = named(map[string]preTokenizer{
	"gpt-2 phi-2 mpt olmo jais exaone4 gigachat a.x-4.0 mellum trillion granite-docling smollm": {patterns: []string{gpt2Pattern}},
	"starcoder refact command-r codeshell exaone minerva-7b mellum2":                            {patterns: []string{`\p{N}`, gpt2Pattern}},
	"llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 glm4 glm5":               {patterns: []string{llama3Pattern}, ignoreMerges: true},
	"dbrx smaug-bpe chatglm-bpe":                {patterns: []string{llama3Pattern}},
	"qwen2 deepseek-r1-qwen megrez":             {patterns: []string{qwen2Pattern}, nfc: true},
	"stablelm2 hunyuan solar-open grok-2 kormo": {patterns: []string{qwen2Pattern}},
	"qwen35":         {patterns: []string{qwen35Pattern}},
	"falcon":         {patterns: []string{"[\\p{P}\\$\\+<=>\\^~\\|`]+", gpt2Pattern, `[0-9][0-9][0-9]`}},
	"deepseek-coder": {patterns: []string{`[\r\n]`, `\s?\p{L}+`, `\s?\p{P}+`, `[一-龥ࠀ-一가-퟿]+`, `\p{N}`}},
	"deepseek-llm":   {patterns: []string{`[\r\n]`, deepseekLatin, `\s?[!-/:-~！-／：-～‘-‟　-。]+`, `\s+$`, `[一-龥ࠀ-一가-퟿]+`, `\p{N}+`}},
	"deepseek-v3 hunyuan-dense joyai-llm hy_v4": {patterns: []string{`\p{N}{1,3}`, `[一-龥぀-ゟ゠-ヿ]+`, deepseekWords}},
	"gpt-4o llama4 kanana2 minimax-m2":          {patterns: []string{o200kPattern}},
	"tekken":                                    {patterns: []string{tekkenPattern}, ignoreMerges: true},
	"bailingmoe bailingmoe2 llada-moe":          {patterns: []string{bailingPattern}},
	"seed-coder":                                {patterns: []string{seedPattern}},
})

// named gives every name of a group, written in one string, the same.
func named[T any](groups map[string]T) map[string]T {
	all := make(map[string]T)
	for names, value := range groups {
		for name := range strings.FieldsSeq(names) {
			all[name] = value
		}
	}
	return all
}

// steps are the steps of a pre-tokenizer.
func (p preTokenizer) steps() (pipeline, error) {
	var all pipeline
	for _, pattern := range p.patterns {
		s, err := isolating(pattern)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
