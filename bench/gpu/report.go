package main

// report is what the program writes as JSON.
type report struct {
	Device device        `json:"device"`
	Peaks  peaks         `json:"peaks"`
	Shapes []shapeReport `json:"shapes"`
}

// device is what the driver says.
type device struct {
	Name       string `json:"name"`
	Capability string `json:"capability"`
	Bytes      uint64 `json:"bytes"`
	CUDA       string `json:"cuda"` // that the driver knows
}

// peaks are what shares are of: measured here, and of the data sheet of an H200 (SXM).
type peaks struct {
	CopyTBs      float64 `json:"copy_tb_s"`    // read and written
	GemmTFLOPs   float64 `json:"gemm_tflop_s"` // the largest product, by the own kernel
	NominalTBs   float64 `json:"nominal_tb_s"` // of an H200
	NominalFLOPs float64 `json:"nominal_tflop_s"`
}

// shapeReport is the measurements of a model's shape.
type shapeReport struct {
	Shape   string         `json:"shape"`
	Like    string         `json:"like"` // the released model that has it
	Context int            `json:"context"`
	Kernels []kernelReport `json:"kernels"`
	Prefill float64        `json:"prefill_tokens_s"`
	Steps   []stepReport   `json:"steps"`
	Engine  []engineReport `json:"engine"`
}

// kernelReport is a kernel by itself, for so many tokens of a step.
type kernelReport struct {
	Kernel     string  `json:"kernel"`
	Tokens     int     `json:"tokens"`
	Micros     float64 `json:"us"`
	Bytes      float64 `json:"bytes"` // that must be read and written
	FLOPs      float64 `json:"flops"`
	OfCopy     float64 `json:"of_copy"` // share of the peaks
	OfNominal  float64 `json:"of_nominal_bandwidth"`
	OfGemm     float64 `json:"of_gemm"`
	OfNominalF float64 `json:"of_nominal_tflops"`
}

// stepReport is decoding of so many sequences through the executor.
type stepReport struct {
	Sequences int     `json:"sequences"`
	Graphs    bool    `json:"graphs"`
	TokensS   float64 `json:"tokens_s"`
	StepUs    float64 `json:"step_us"` // from result to result, on average
	BusyUs    float64 `json:"busy_us"` // median, by the device's clock
	GapUs     float64 `json:"gap_us"`  // likewise
	GapMostUs float64 `json:"gap_most_us"`
	BusyShare float64 `json:"busy_share"`
	OfNominal float64 `json:"of_nominal_bandwidth"` // weights and cache read in the busy time
}

// engineReport is generating with so many requests through the engine.
type engineReport struct {
	Requests    int     `json:"requests"`
	TokensS     float64 `json:"tokens_s"` // while all of them generate
	WholeS      float64 `json:"whole_tokens_s"`
	FirstMs     float64 `json:"first_token_ms"` // median, all having arrived at once
	Pauses      int     `json:"pauses"`         // acknowledged while requests ran
	PauseMs     float64 `json:"pause_ms"`       // median
	PauseMostMs float64 `json:"pause_most_ms"`
}
