package checkpoint

import "github.com/cbactor/cbactor/model"

// ggufType is a tensor type: its name, how many elements lie in how many bytes,
// and how it is read; Invalid: not.
type ggufType struct {
	name         string
	block, bytes uint64
	dtype        model.DType
}

// ggufTypes are the tensor types by number, as in ggml.h. Sizes of types that
// cannot be read are there to check the file as a whole.
var ggufTypes = map[uint32]ggufType{
	0:  {"F32", 1, 4, model.F32},
	1:  {"F16", 1, 2, model.F16},
	2:  {"Q4_0", 32, 18, model.Q4_0},
	3:  {"Q4_1", 32, 20, model.Q4_1},
	6:  {"Q5_0", 32, 22, model.Invalid},
	7:  {"Q5_1", 32, 24, model.Invalid},
	8:  {"Q8_0", 32, 34, model.Q8_0},
	10: {"Q2_K", 256, 84, model.Invalid},
	11: {"Q3_K", 256, 110, model.Invalid},
	12: {"Q4_K", 256, 144, model.Q4_K},
	13: {"Q5_K", 256, 176, model.Q5_K},
	14: {"Q6_K", 256, 210, model.Q6_K},
	16: {"IQ2_XXS", 256, 66, model.Invalid},
	17: {"IQ2_XS", 256, 74, model.Invalid},
	18: {"IQ3_XXS", 256, 98, model.Invalid},
	19: {"IQ1_S", 256, 50, model.Invalid},
	20: {"IQ4_NL", 32, 18, model.Invalid},
	21: {"IQ3_S", 256, 110, model.Invalid},
	22: {"IQ2_S", 256, 82, model.Invalid},
	23: {"IQ4_XS", 256, 136, model.Invalid},
	24: {"I8", 1, 1, model.Invalid},
	25: {"I16", 1, 2, model.Invalid},
	26: {"I32", 1, 4, model.Invalid},
	27: {"I64", 1, 8, model.Invalid},
	28: {"F64", 1, 8, model.Invalid},
	29: {"IQ1_M", 256, 56, model.Invalid},
	30: {"BF16", 1, 2, model.BF16},
	34: {"TQ1_0", 256, 54, model.Invalid},
	35: {"TQ2_0", 256, 66, model.Invalid},
	39: {"MXFP4", 32, 17, model.MXFP4},
	40: {"NVFP4", 64, 36, model.Invalid},
	41: {"Q1_0", 128, 18, model.Invalid},
}
