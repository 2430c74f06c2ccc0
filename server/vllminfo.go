package server

import (
	"cmp"
	"net/http"
)

// torchTypes are types of weights as torch spells them. What it has none for is told as float32,
// as which such weights are read.
var torchTypes = map[string]string{"F16": "torch.float16", "BF16": "torch.bfloat16"}

// vllmConfig is how vLLM tells of what it serves, as far as its trainers look.
type vllmConfig struct {
	Model    vllmModel    `json:"model_config"`
	Parallel vllmParallel `json:"parallel_config"`
	LoRA     *vllmLoRA    `json:"lora_config"`            // nil: adapters are not taken
	Transfer *struct{}    `json:"weight_transfer_config"` // nil: weights come as files
}

type vllmModel struct {
	Model      string   `json:"model"`
	Served     []string `json:"served_model_name"`
	DType      string   `json:"dtype"` // of the weights as the model's files have them
	MaxContext int      `json:"max_model_len"`
}

// vllmParallel counts processes: an engine is one, whatever computes for it.
type vllmParallel struct {
	World    int `json:"world_size"`
	Data     int `json:"data_parallel_size"`
	Tensor   int `json:"tensor_parallel_size"`
	Pipeline int `json:"pipeline_parallel_size"`
}

type vllmLoRA struct {
	Rank  int `json:"max_lora_rank"`
	Count int `json:"max_loras"`
}

// serverInfo is that beside what SGLang tells.
type serverInfo struct {
	sglangInfo
	Config vllmConfig `json:"vllm_config"`
}

// vllmInfo answers GET /server_info, with what SGLang has there beside it. config_format has no effect: it is always JSON.
func (s *Server) vllmInfo(w http.ResponseWriter, r *http.Request) error {
	m, _, err := s.find(r.URL.Query().Get("model"))
	if err != nil {
		return err
	}
	info := m.Engine.Info()
	c := vllmConfig{
		Model:    vllmModel{m.Name, []string{m.Name}, cmp.Or(torchTypes[m.Stored], "torch.float32"), info.MaxContext},
		Parallel: vllmParallel{1, 1, 1, 1},
	}
	if info.Adapters > 0 {
		c.LoRA = &vllmLoRA{info.AdapterRank, info.Adapters}
	}
	return s.answer(w, http.StatusOK, serverInfo{s.sglangInfo(m), c})
}

type worldAnswer struct {
	Size int `json:"world_size"`
}

// worldSize answers GET /get_world_size.
func (s *Server) worldSize(w http.ResponseWriter, _ *http.Request) error {
	return s.answer(w, http.StatusOK, worldAnswer{1})
}
