package server

import "github.com/go-json-experiment/json/jsontext"

// unmetParams are fields that OpenAI's routes take with the one value that changes nothing, and
// all that is unknown, which is ignored unless openaiRefused has it: clients of OpenAI's send
// more from year to year.
type unmetParams struct {
	SkipSpecial *bool `json:"skip_special_tokens"`

	Rest map[string]jsontext.Value `json:",embed"`
}

// openaiRefused are fields that would change an answer, with what to do instead: OpenAI's,
// vLLM's and llama.cpp's.
var openaiRefused = map[string]string{
	"audio": "leave it out: answers are text",

	"prompt_logprobs":        "/v1/completions has echo with logprobs",
	"truncate_prompt_tokens": "send the part of the prompt that is meant",
	"use_beam_search":        "n gives several texts",
	"length_penalty":         "it is for beams, and there are none",
	"prompt_embeds":          "send text or token ids",
	"logits_processors":      "leave it out: no code of clients is run",
	"chat_template":          "lay the conversation out and send it to /v1/completions",
	"chat_template_kwargs":   chatsHaveIt,
	"continue_final_message": chatsHaveIt,
	"documents":              "put them into a message",
	"logprob_token_ids":      "logprobs tells of the likeliest ones",
	"thinking_token_budget":  "bound max_tokens",
	"repetition_detection":   "repetition_penalty makes repetitions less likely",

	"grammar":        "structured_outputs has json, regex and choice",
	"json_schema":    "response_format has json_schema",
	"n_predict":      "max_tokens is the number of tokens",
	"max_new_tokens": "max_tokens is the number of tokens",
	"min_new_tokens": "min_tokens is the least number of tokens",
}

// chatsHaveIt is what to do about a conversation that is to be laid out otherwise.
const chatsHaveIt = "/v1/chat/completions has it"

// chatRefused are those of conversations.
var chatRefused = map[string]string{
	"prompt":             "send the conversation whole",
	"conversation":       "send the conversation whole: nothing is stored",
	"echo":               "/v1/completions has it",
	"add_special_tokens": "the chat template puts them where they belong",
}

// check refuses what is not done for a route, which has one more table where it is of
// conversations.
func (p *unmetParams) check(tables ...map[string]string) error {
	if p.SkipSpecial != nil && !*p.SkipSpecial {
		return bad("skip_special_tokens", "is false, must be true: return_token_ids tells of them")
	}
	for _, table := range append(tables, openaiRefused) {
		if err := refused(p.Rest, table); err != nil {
			return err
		}
	}
	return nil
}

// chatUnmet are such fields of conversations alone.
type chatUnmet struct {
	unmetParams
	Modalities []string       `json:"modalities"`
	WebSearch  jsontext.Value `json:"web_search_options"`
}

// check is that of unmetParams.
func (p *chatUnmet) check() error {
	switch {
	case len(p.Modalities) > 1 || len(p.Modalities) == 1 && p.Modalities[0] != "text":
		return bad("modalities", `must be ["text"]`)
	case given(p.WebSearch):
		return bad("web_search_options", "is not supported: leave it out")
	}
	return p.unmetParams.check(chatRefused)
}
