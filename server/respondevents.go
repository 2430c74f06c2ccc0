package server

// The events of POST /v1/responses, as one struct each; they are numbered in one row.

type eventHead struct {
	Type     string `json:"type"`
	Sequence int    `json:"sequence_number"`
}

type responseEvent struct {
	eventHead
	Response response `json:"response"`
}

type itemEvent struct {
	eventHead
	OutputIndex int        `json:"output_index"`
	Item        outputItem `json:"item"`
}

// place is where in the output an event belongs that is about the text of its message.
type place struct {
	ItemID       string `json:"item_id"`
	OutputIndex  int    `json:"output_index"`
	ContentIndex int    `json:"content_index"`
}

type partEvent struct {
	eventHead
	place
	Part outputText `json:"part"`
}

type deltaEvent struct {
	eventHead
	place
	Delta    string         `json:"delta"`
	Logprobs []tokenLogprob `json:"logprobs"`
	provenance
}

type textEvent struct {
	eventHead
	place
	Text     string         `json:"text"`
	Logprobs []tokenLogprob `json:"logprobs"`
}

// callPlace is where one belongs that is about a call.
type callPlace struct {
	ItemID      string `json:"item_id"`
	OutputIndex int    `json:"output_index"`
}

type argumentsDeltaEvent struct {
	eventHead
	callPlace
	Delta string `json:"delta"`
	provenance
}

type argumentsEvent struct {
	eventHead
	callPlace
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type errorEvent struct {
	eventHead
	Message string  `json:"message"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

// head begins the next event.
func (a *responding) head(kind string) eventHead {
	a.count++
	return eventHead{kind, a.count - 1}
}

// begin implements answers.
func (a *responding) begin() []event {
	return []event{
		{"response.created", responseEvent{a.head("response.created"), a.base}},
		{"response.in_progress", responseEvent{a.head("response.in_progress"), a.base}},
	}
}

// last implements answers.
func (a *responding) last(sum *usage) (list []event) {
	answer := a.complete(sum)
	for i := range a.output {
		if item := &a.output[i]; item.Type == "message" {
			list = append(list,
				event{"response.output_text.done", textEvent{a.head("response.output_text.done"), a.place(), item.Content[0].Text, a.told}},
				event{"response.content_part.done", partEvent{a.head("response.content_part.done"), a.place(), item.Content[0]}})
		} else {
			list = append(list, event{"response.function_call_arguments.done",
				argumentsEvent{a.head("response.function_call_arguments.done"), callPlace{item.ID, i}, item.Name, *item.Arguments}})
		}
		list = append(list, event{"response.output_item.done", itemEvent{a.head("response.output_item.done"), i, a.output[i]}})
	}
	kind := "response." + answer.Status
	return append(list, event{kind, responseEvent{a.head(kind), answer}})
}

// failed implements answers.
func (a *responding) failed(r *refusal) []event {
	told := r.body().Error
	return []event{{"error", errorEvent{a.head("error"), told.Message, told.Param, told.Code}}}
}
