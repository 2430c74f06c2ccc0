package server

import (
	"context"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
)

// response is the answer of POST /v1/responses.
type response struct {
	ID           string            `json:"id"`
	Object       string            `json:"object"`
	CreatedAt    int64             `json:"created_at"`
	Status       string            `json:"status"` // in_progress, completed or incomplete
	Error        *errorObject      `json:"error"`
	Incomplete   *incomplete       `json:"incomplete_details"`
	Instructions *string           `json:"instructions"`
	MaxOutput    *int              `json:"max_output_tokens"`
	Metadata     map[string]string `json:"metadata"`
	Model        string            `json:"model"`
	Output       []outputItem      `json:"output"`
	Parallel     bool              `json:"parallel_tool_calls"`
	Previous     *string           `json:"previous_response_id"`
	Store        bool              `json:"store"`
	Temperature  float32           `json:"temperature"`
	TopP         float32           `json:"top_p"`
	ToolChoice   any               `json:"tool_choice"`
	Tools        []responseTool    `json:"tools"`
	Truncation   string            `json:"truncation"`
	Usage        *responseUsage    `json:"usage"`
	provenance
}

type incomplete struct {
	Reason string `json:"reason"`
}

// responseTool is a function that was offered.
type responseTool struct {
	Type string `json:"type"`
	function
}

// outputItem is the message of a response, or a call.
type outputItem struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Status string `json:"status"`

	Role    string       `json:"role,omitzero"`
	Content []outputText `json:"content,omitzero"`

	CallID    string  `json:"call_id,omitzero"`
	Name      string  `json:"name,omitzero"`
	Arguments *string `json:"arguments,omitzero"`
}

// outputText is the only part of a message.
type outputText struct {
	Type        string         `json:"type"`
	Text        string         `json:"text"`
	Annotations []string       `json:"annotations"` // none
	Logprobs    []tokenLogprob `json:"logprobs"`
}

type responseUsage struct {
	Input        int `json:"input_tokens"`
	InputDetails struct {
		Cached int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Output        int `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int `json:"total_tokens"`
}

// responding words the answers of a call for a response.
type responding struct {
	*call
	params  *responseParams
	base    response // without output
	hearing listener
	output  []outputItem   // as they were begun
	message int            // the place of the message among them; -1: there is none
	calls   []int          // those of calls
	told    []tokenLogprob // of the tokens that have come
	untold  []tokenLogprob // of them, those that no event had
	made    provenance     // that no event had
	end     *texts.Output  // once it has ended
	count   int            // events
}

// prepare implements answers.
func (a *responding) prepare(context.Context, []texts.Prompt) error {
	s := &a.shared.Sampling
	a.base = response{ID: a.id, Object: "response", CreatedAt: time.Now().Unix(), Status: "in_progress", Instructions: a.params.Instructions,
		MaxOutput: a.params.MaxOutput, Metadata: a.params.Metadata, Model: a.name, Temperature: s.Temperature, TopP: s.TopP, Truncation: "disabled",
		Parallel: !a.offer.single, ToolChoice: a.params.Choice.told(len(a.params.Tools))}
	if a.base.Metadata == nil {
		a.base.Metadata = map[string]string{}
	}
	if s.TopP == 0 {
		a.base.TopP = 1
	}
	for _, t := range a.params.Tools {
		a.base.Tools = append(a.base.Tools, responseTool{"function", t.function})
	}
	a.hearing, a.message = a.offer.listener(), -1
	return nil
}

// whole implements answers.
func (a *responding) whole(outs []texts.Output, sum *usage) any {
	a.chunk(0, texts.Chunk{Chunk: chunkOf(&outs[0]), Text: outs[0].Text, Final: &outs[0]})
	return a.complete(sum)
}

// complete is the response with all of its output.
func (a *responding) complete(sum *usage) response {
	answer := a.base
	answer.Status = "completed"
	if reason, _ := finish(a.end, nil); a.end.FinishReason == engine.FinishLength {
		answer.Status, answer.Incomplete = "incomplete", &incomplete{"max_output_tokens"}
	} else if reason != "stop" {
		answer.Status, answer.Incomplete = "incomplete", &incomplete{reason}
	}
	for i := range a.output {
		a.output[i].Status = answer.Status
	}
	if a.message >= 0 {
		a.output[a.message].Content[0].Logprobs = a.told
	}
	answer.Output = a.output
	answer.Usage = &responseUsage{Input: sum.Prompt, Output: sum.Completion, Total: sum.Total}
	answer.Usage.InputDetails.Cached = sum.Details.Cached
	answer.provenance = a.of(&texts.Chunk{Chunk: chunkOf(a.end)}, a.end)
	return answer
}
