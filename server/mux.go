package server

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// route is a path, what answers it and for what it is.
type route struct {
	method  string
	path    string // as http.ServeMux has it
	about   string
	handler func(*Server, http.ResponseWriter, *http.Request) error
}

// routes are those of clients. Those in open (guard.go) ask for no key.
var routes = []route{
	{http.MethodPost, "/v1/completions", "continue prompts", (*Server).completions},
	{http.MethodPost, "/v1/chat/completions", "answer a conversation", (*Server).chat},
	{http.MethodPost, "/v1/responses", "answer a conversation, in OpenAI's newer words", (*Server).responses},
	{http.MethodGet, "/v1/models", "the models and their adapters", (*Server).listModels},
	{http.MethodGet, "/v1/models/{id...}", "one of them", (*Server).oneModel},
	{http.MethodPost, "/tokenize", "the token ids of a text or a conversation", (*Server).tokenize},
	{http.MethodPost, "/detokenize", "the text of token ids", (*Server).detokenize},
	{http.MethodGet, "/health", "whether the process is alive, and what its engines do", (*Server).health},
	{http.MethodGet, "/ready", "whether calls are taken", (*Server).ready},
	{http.MethodGet, "/version", "the version of the program", (*Server).version},
	{http.MethodGet, "/openapi.json", "all of this, as OpenAPI has it", (*Server).describe},
	{http.MethodGet, metricsPath, "numbers for Prometheus", (*Server).metrics},

	{http.MethodPost, "/inference/v1/generate", "continue token ids, as vLLM's clients ask", (*Server).vllmGenerate},
	{http.MethodGet, "/server_info", "what is served, as vLLM tells it", (*Server).vllmInfo},
	{http.MethodGet, "/get_world_size", "how many processes hold weights", (*Server).worldSize},
	{http.MethodGet, "/weight_info", "what the weights that serve are called", (*Server).weightInfo},

	{http.MethodPost, "/generate", "continue prompts, as SGLang's clients ask", (*Server).sglangGenerate},
	{http.MethodGet, "/health_generate", "whether a token can be generated", (*Server).healthGenerate},
	{http.MethodGet, "/get_server_info", "what /server_info tells, by its old name", (*Server).vllmInfo},
	{http.MethodGet, "/model_info", "what is served, as SGLang tells it", (*Server).modelInfo},
	{http.MethodGet, "/get_model_info", "the same, by its old name", (*Server).modelInfo},
	{http.MethodGet, "/get_weight_version", "what the weights that serve are called", (*Server).weightInfo},
	{http.MethodGet, "/v1/loads", "how many requests there are", (*Server).loads},
}

// adminRoutes are those of who runs the server or trains its models: administers (guard.go)
// says who that is.
var adminRoutes = []route{
	{http.MethodPost, "/pause", "pause generation, or renew the lease of a pause", (*Server).pausing},
	{http.MethodPost, "/resume", "release a pause", (*Server).resuming},
	{http.MethodGet, "/is_paused", "whether generation is paused", (*Server).isPaused},
	{http.MethodPost, "/sleep", "give memory back while generation is paused", (*Server).sleeping},
	{http.MethodPost, "/wake_up", "take it again and go on", (*Server).wakingUp},
	{http.MethodGet, "/is_sleeping", "what sleeps", (*Server).isSleeping},

	{http.MethodGet, "/v1/weights", "which weights serve", (*Server).showWeights},
	{http.MethodPost, "/v1/weights/updates", "begin an update of the weights", (*Server).beginUpdate},
	{http.MethodGet, "/v1/weights/updates/{id}", "what of it is missing", (*Server).showUpdate},
	{http.MethodDelete, "/v1/weights/updates/{id}", "give it up", (*Server).abortUpdate},
	{http.MethodPut, "/v1/weights/updates/{id}/shards/{name...}", "send tensors for it, as safetensors", (*Server).putShard},
	{http.MethodPost, "/v1/weights/updates/{id}/files", "have files read for it", (*Server).readFiles},
	{http.MethodPost, "/v1/weights/updates/{id}/commit", "let it compute", (*Server).commitUpdate},
	{http.MethodPost, "/v1/weights/load", "update the weights from files at once", (*Server).loading},
	{http.MethodPost, "/v1/weights/rollback", "go back to the weights before", (*Server).rollback},
	{http.MethodGet, "/v1/weights/checksum", "the digest of the weights that serve", (*Server).checksum},
	{http.MethodGet, "/v1/weights/changes", "wait for other weights", (*Server).changes},
	{http.MethodGet, "/v1/adapters", "the adapters", (*Server).listAdapters},
	{http.MethodPost, "/v1/adapters", "load an adapter from files", (*Server).loadingAdapter},
	{http.MethodPut, "/v1/adapters/{name...}", "send an adapter", (*Server).sentAdapter},
	{http.MethodDelete, "/v1/adapters/{name...}", "unload an adapter", (*Server).unloadingAdapter},

	{http.MethodPost, "/abort_requests", "end calls with what they have", (*Server).vllmAbort},
	{http.MethodPost, "/update_weight_version", "call the weights that serve otherwise", (*Server).renameVersion},
	{http.MethodPost, "/weight_checker", "the checksum of the weights that serve, or whether it is as before", (*Server).weightChecker},
	{http.MethodPost, "/reset_prefix_cache", "give up what the prefix cache has", (*Server).resetCache},
	{http.MethodPost, "/v1/load_lora_adapter", "load an adapter from a folder", (*Server).vllmLoadAdapter},
	{http.MethodPost, "/v1/unload_lora_adapter", "unload an adapter", (*Server).vllmUnloadAdapter},
	{http.MethodPost, "/init_weight_transfer_engine", "nothing: weights are taken from files", (*Server).initTransfer},
	{http.MethodPost, "/shutdown_weight_transfer_engine", "nothing, unless an update is open", (*Server).shutdownTransfer},
	{http.MethodPost, "/start_weight_update", "begin vLLM's update of the weights", (*Server).startUpdate},
	{http.MethodPost, "/update_weights", "tell it of a path, or load one at once", (*Server).updateWeights},
	{http.MethodPost, "/finish_weight_update", "let what is there compute", (*Server).finishUpdate},
	{http.MethodPost, "/areal_pause_generation", "pause, abort what is open, let what is new wait", (*Server).arealPause},
	{http.MethodPost, "/areal_continue_generation", "release that pause", (*Server).arealContinue},
	{http.MethodPost, "/areal_update_weights", "load weights from a path", (*Server).arealUpdate},
	{http.MethodPost, "/start_draft_weight_update", "nothing: it is refused, with what to do instead", vllmInstead(insteadOfDraft)},
	{http.MethodPost, "/collective_rpc", "nothing: it is refused, with what to do instead", vllmInstead(insteadOfCode)},
	{http.MethodPost, "/init_broadcaster", "nothing: it is refused, with what to do instead", vllmInstead(insteadOfNCCL)},
	{http.MethodPost, "/areal_update_weights_lora", "nothing: it is refused, with what to do instead", vllmInstead(insteadOfLoRA)},
	{http.MethodPost, "/areal_init_weights_update_group", "nothing: it is refused, with what to do instead", vllmInstead(insteadOfNCCL)},
	{http.MethodPost, "/areal_set_update_weight_meta", "nothing: it is refused, with what to do instead", vllmInstead(insteadOfNCCL)},
	{http.MethodPost, "/areal_set_update_weight_meta_lora", "nothing: it is refused, with what to do instead", vllmInstead(insteadOfNCCL)},
	{http.MethodPost, "/areal_update_weights_xccl", "nothing: it is refused, with what to do instead", vllmInstead(insteadOfNCCL)},
	{http.MethodPost, "/areal_update_weights_lora_xccl", "nothing: it is refused, with what to do instead", vllmInstead(insteadOfNCCL)},
	{http.MethodPost, "/reset_mm_cache", "nothing: there is none", (*Server).noCache},
	{http.MethodPost, "/reset_encoder_cache", "nothing: there is none", (*Server).noCache},

	{http.MethodPost, "/pause_generation", "pause generation, in SGLang's words", (*Server).sglangPause},
	{http.MethodPost, "/continue_generation", "go on", (*Server).sglangContinue},
	{http.MethodGet, "/flush_cache", "give up what the prefix cache has, if nothing is open", (*Server).flushCache},
	{http.MethodPost, "/flush_cache", "the same", (*Server).flushCache},
	{http.MethodPost, "/abort_request", "end requests with what they have", (*Server).sglangAbort},
	{http.MethodGet, "/release_memory_occupation", "give memory back while generation is paused", (*Server).releaseMemory},
	{http.MethodPost, "/release_memory_occupation", "the same", (*Server).releaseMemory},
	{http.MethodGet, "/resume_memory_occupation", "take it again and go on", (*Server).resumeMemory},
	{http.MethodPost, "/resume_memory_occupation", "the same", (*Server).resumeMemory},
	{http.MethodPost, "/update_weights_from_disk", "load weights from files", (*Server).updateFromDisk},
	{http.MethodPost, "/begin_weight_update", "nothing: updates are whole", (*Server).weightUpdate},
	{http.MethodPost, "/end_weight_update", "the same", (*Server).weightUpdate},
	{http.MethodGet, "/weights_checker", "the checksum of the weights that serve", (*Server).weightsChecker},
	{http.MethodPost, "/weights_checker", "the same", (*Server).weightsChecker},
	{http.MethodPost, "/load_lora_adapter", "load an adapter from files", (*Server).sglangLoadAdapter},
	{http.MethodPost, "/unload_lora_adapter", "unload one", (*Server).sglangUnloadAdapter},
	{http.MethodPost, "/load_lora_adapter_from_tensors", "not supported", sglangInstead(insteadOfUpload)},
	{http.MethodGet, "/get_weights_by_name", "not supported", sglangInstead(insteadOfNames)},
	{http.MethodPost, "/get_weights_by_name", "not supported", sglangInstead(insteadOfNames)},
	{http.MethodPost, "/update_weights_from_tensor", "not supported", sglangInstead(insteadOfTensors)},
	{http.MethodPost, "/update_weights_from_distributed", "not supported", sglangInstead(insteadOfTensors)},
	{http.MethodPost, "/update_weights_from_ipc", "not supported", sglangInstead(insteadOfTensors)},
	{http.MethodPost, "/init_weights_update_group", "not supported", sglangInstead(insteadOfTensors)},
	{http.MethodPost, "/destroy_weights_update_group", "not supported", sglangInstead(insteadOfTensors)},
}

// acting are the paths where GET changes something, as SGLang's clients ask: there is no HEAD.
var acting = map[string]bool{"/flush_cache": true, "/release_memory_occupation": true, "/resume_memory_occupation": true}

// mux finds the route of a request, among those of clients, of administrators or both.
func (s *Server) mux(clients, admins bool) http.Handler {
	mux := http.NewServeMux()
	for path, at := range byPath(routes) {
		if clients || open[path] || path == metricsPath {
			mux.Handle(path, s.only(at))
		}
	}
	for path, at := range byPath(adminRoutes) {
		if admins {
			mux.Handle(path, s.administered(s.only(at)))
		}
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, &refusal{http.StatusNotFound, fmt.Sprintf("there is no route %.200q", r.URL.Path), "", "unknown_route"})
	})
	return mux
}

// byPath are routes by their paths, which may have several methods.
func byPath(list []route) map[string][]route {
	at := map[string][]route{}
	for _, r := range list {
		at[r.path] = append(at[r.path], r)
	}
	return at
}

// only answers requests with the methods of a path's routes.
func (s *Server) only(at []route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		accountOf(r).route = at[0].path
		var methods []string
		for _, to := range at {
			if r.Method == to.method || r.Method == http.MethodHead && to.method == http.MethodGet && !acting[to.path] {
				if err := to.handler(s, w, s.traced(r, to.path)); err != nil {
					s.refuse(w, refusalOf(err, ""))
				}
				return
			}
			methods = append(methods, to.method)
		}
		w.Header().Set("Allow", strings.Join(methods, ", "))
		s.refuse(w, &refusal{http.StatusMethodNotAllowed, fmt.Sprintf("%s takes %s alone", at[0].path, strings.Join(methods, " and ")), "", "method_not_allowed"})
	})
}

// refuse answers with an error.
func (s *Server) refuse(w http.ResponseWriter, r *refusal) {
	if seen, is := w.(*witness); is {
		seen.account.failed = r
	}
	if r.later() {
		w.Header().Set("Retry-After", retryAfter)
	}
	if err := s.answer(w, r.status, r.body()); err != nil {
		s.log.Debug().Err(err).Msg("a client was not told of an error")
	}
}

// encode is a value as JSON; a map that is nil is null.
func encode(v any) ([]byte, error) {
	data, err := json.Marshal(v, json.FormatNilMapAsNull(true), json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("write an answer as JSON: %w", err)
	}
	return data, nil
}

// answer writes a JSON object to a client that takes it in time.
func (s *Server) answer(w http.ResponseWriter, status int, v any) error {
	body, err := encode(v)
	if err != nil {
		return err
	}
	if err := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.limits.Patience)); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if _, err := w.Write(append(body, '\n')); err != nil {
		if seen, is := w.(*witness); is && errors.Is(err, os.ErrDeadlineExceeded) {
			seen.account.failed = errSlow
		}
		s.log.Debug().Err(err).Msg("a client did not take its answer")
	}
	return nil
}
