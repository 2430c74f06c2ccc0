package server

import "net/http"

// vllmUnable are routes of vLLM's and AReaL's for what is not done, with what to do instead.
var vllmUnable = map[string]string{
	"/start_draft_weight_update":         "there is no draft model: leave this call out",
	"/collective_rpc":                    "no code of trainers is run: load weights by /v1/weights/load or /v1/weights/updates",
	"/init_broadcaster":                  noNCCL,
	"/areal_init_weights_update_group":   noNCCL,
	"/areal_set_update_weight_meta":      noNCCL,
	"/areal_set_update_weight_meta_lora": noNCCL,
	"/areal_update_weights_xccl":         noNCCL,
	"/areal_update_weights_lora_xccl":    noNCCL,
	"/areal_update_weights_lora":         "load an adapter by /v1/load_lora_adapter",
}

const noNCCL = "there is no NCCL: have the trainer write its weights to files (AReaL: weight_update_mode disk; prime-rl: weight_broadcast filesystem)"

// vllmRefuse answers these.
func (s *Server) vllmRefuse(_ http.ResponseWriter, r *http.Request) error {
	return &refusal{http.StatusBadRequest, r.URL.Path + ": " + vllmUnable[r.URL.Path], "", "not_supported"}
}
