package model

// FP8Square is the rows and columns that share a scale of FP8, the only ones that are read.
const FP8Square = 128

// quantization reads quant_method of a quantization_config, "" where there is none. Two
// are implemented: "fp8", E4M3 with a scale for each square of 128, as DeepSeek and Qwen
// ship it, and "mxfp4". All others are refused by name.
func (f *fields) quantization() string {
	if f.has("compression_config") { // its older name
		f.refuseQuantization("compressed-tensors")
	}
	if f.err != nil || !f.has("quantization_config") {
		return ""
	}
	q := newFields(f.raw["quantization_config"])
	method := value(q, "quant_method", "")
	switch {
	case q.err == nil && method == "":
		q.fail("%w: quant_method is missing", ErrConfig)
	case method == "fp8":
		q.checkFP8()
	case method != "mxfp4":
		q.refuseQuantization(method)
	}
	if q.err != nil {
		f.fail("quantization_config: %w", q.err)
	}
	return method
}

// checkFP8 refuses what is called fp8, too.
func (f *fields) checkFP8() {
	if block := values[int](f, "weight_block_size"); len(block) != 2 || block[0] != FP8Square || block[1] != FP8Square {
		f.fail("%w: fp8 with weight_block_size %v is not implemented, only squares of %d are", ErrUnsupported, block, FP8Square)
	}
	if scheme := value(f, "activation_scheme", "dynamic"); scheme != "dynamic" {
		f.fail("%w: fp8 with activation_scheme %.40q is not implemented, only dynamic is", ErrUnsupported, scheme)
	}
	if format := value(f, "fmt", "e4m3"); format != "e4m3" && format != "float8_e4m3fn" {
		f.fail("%w: fp8 with fmt %.40q is not implemented, only e4m3 is", ErrUnsupported, format)
	}
}

// refuseQuantization says what to do about one that is not implemented.
func (f *fields) refuseQuantization(method string) {
	f.fail("%w: weights quantised by %.80q are not read: take the model in bf16, or as a GGUF file", ErrUnsupported, method)
}
