package checkpoint

import "strings"

// The pre-tokenizers that most models have: those of GPT-2 (openai/gpt-2, encoder.py), Llama
// 3 and Qwen2, after cl100k (openai/tiktoken, tiktoken_ext/openai_public.py).
const (
	GPT2Pattern   = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	Llama3Pattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	Qwen2Pattern  = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

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

// PreTokenizer is what a name in tokenizer.ggml.pre stands for: patterns, each of
// which cuts what the one before it left.
type PreTokenizer struct {
	Patterns     []string
	IgnoreMerges bool // words that are a token are not merged
	NFC          bool // as the model's tokenizer.json says
}

// preTokenizers are the names that llama.cpp gives to pre-tokenizers. "smollm" is read
// as Transformers 5.23.0 reads it, whose ids are the reference: the pattern of GPT-2
// alone. llama.cpp cuts at every digit first, which gives other ids only for white
// space before a number and for numbers beyond 0-9, as the vocabulary has no tokens of
// several digits.
var preTokenizers = byName(map[string]PreTokenizer{
	"gpt-2 phi-2 mpt olmo jais exaone4 gigachat a.x-4.0 mellum trillion granite-docling smollm": {Patterns: []string{GPT2Pattern}},
	"starcoder refact command-r codeshell exaone minerva-7b mellum2":                            {Patterns: []string{`\p{N}`, GPT2Pattern}},
	"llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 glm4 glm5":               {Patterns: []string{Llama3Pattern}, IgnoreMerges: true},
	"dbrx smaug-bpe chatglm-bpe":                {Patterns: []string{Llama3Pattern}},
	"qwen2 deepseek-r1-qwen megrez":             {Patterns: []string{Qwen2Pattern}, NFC: true},
	"stablelm2 hunyuan solar-open grok-2 kormo": {Patterns: []string{Qwen2Pattern}},
	"qwen35":         {Patterns: []string{qwen35Pattern}},
	"falcon":         {Patterns: []string{"[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT2Pattern, `[0-9][0-9][0-9]`}},
	"deepseek-coder": {Patterns: []string{`[\r\n]`, `\s?\p{L}+`, `\s?\p{P}+`, `[一-龥ࠀ-一가-퟿]+`, `\p{N}`}},
	"deepseek-llm":   {Patterns: []string{`[\r\n]`, deepseekLatin, `\s?[!-/:-~！-／：-～‘-‟　-。]+`, `\s+$`, `[一-龥ࠀ-一가-퟿]+`, `\p{N}+`}},
	"deepseek-v3 hunyuan-dense joyai-llm hy_v4": {Patterns: []string{`\p{N}{1,3}`, `[一-龥぀-ゟ゠-ヿ]+`, deepseekWords}},
	"gpt-4o llama4 kanana2 minimax-m2":          {Patterns: []string{o200kPattern}},
	"tekken":                                    {Patterns: []string{tekkenPattern}, IgnoreMerges: true},
	"bailingmoe bailingmoe2 llada-moe":          {Patterns: []string{bailingPattern}},
	"seed-coder":                                {Patterns: []string{seedPattern}},
})

// PreTokenizer is that of the vocabulary; false: its name is not known.
func (v *Vocab) PreTokenizer() (PreTokenizer, bool) {
	p, ok := preTokenizers[v.Pre]
	return p, ok
}

// byName gives every name of a group, written in one string, the same.
func byName[T any](groups map[string]T) map[string]T {
	all := make(map[string]T)
	for names, value := range groups {
		for name := range strings.FieldsSeq(names) {
			all[name] = value
		}
	}
	return all
}
