package server

import "net/http"

// vllmInstead answers a route of vLLM's trainers for what cannot be had, and says what can.
func vllmInstead(what string) func(*Server, http.ResponseWriter, *http.Request) error {
	return func(_ *Server, _ http.ResponseWriter, r *http.Request) error {
		return &refusal{http.StatusBadRequest, r.URL.Path + " is not supported: " + what, "", "not_supported"}
	}
}

// What to do in the place of what cannot be had.
const (
	insteadOfNCCL  = "have the trainer write its weights to files (AReaL: weight_update_mode disk; prime-rl: weight_broadcast filesystem)"
	insteadOfDraft = "leave it out: there is no draft model"
	insteadOfCode  = "load weights by /v1/weights/load, or send them by /v1/weights/updates: no code of trainers is run"
	insteadOfLoRA  = "load an adapter by /v1/load_lora_adapter"
)
