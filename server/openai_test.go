package server

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/cbactor/cbactor/engine"
)

// client is OpenAI's own, unmodified.
func (r *rig) client(key string) openai.Client {
	return openai.NewClient(option.WithBaseURL(r.url+"/v1/"), option.WithAPIKey(key), option.WithMaxRetries(0))
}

func TestOpenAIClientChat(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{APIKey: "secret"})
	client := r.client("secret")
	ask := openai.ChatCompletionNewParams{
		Model:       "tiny",
		Messages:    []openai.ChatCompletionMessageParamUnion{openai.SystemMessage("Be kind."), openai.UserMessage("Write a story.")},
		Temperature: openai.Float(0), MaxCompletionTokens: openai.Int(12), N: openai.Int(2),
		Logprobs: openai.Bool(true), TopLogprobs: openai.Int(3), Seed: openai.Int(3), User: openai.String("me"),
		Stop: openai.ChatCompletionNewParamsStopUnion{OfStringArray: []string{"zebra"}},
	}
	whole, err := client.Chat.Completions.New(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	first := whole.Choices[0]
	if len(whole.Choices) != 2 || first.Message.Content == "" || first.FinishReason != "length" || whole.Usage.CompletionTokens != 24 ||
		len(first.Logprobs.Content) != 12 || len(first.Logprobs.Content[0].TopLogprobs) != 3 || whole.Model != "tiny" {
		t.Errorf("%s", whole.RawJSON())
	}
	if own := first.JSON.ExtraFields["x_weights"]; !strings.Contains(own.Raw(), `"spans":[{"version":"default","start":0,"end":12}]`) || len(whole.JSON.ExtraFields) > 0 {
		t.Errorf("beside what is OpenAI's: %s", whole.RawJSON())
	}
	ask.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
	stream := client.Chat.Completions.NewStreaming(t.Context(), ask)
	var sum openai.ChatCompletionAccumulator
	for stream.Next() {
		if !sum.AddChunk(stream.Current()) {
			t.Errorf("a chunk that does not fit: %s", stream.Current().RawJSON())
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if len(sum.Choices) != 2 || sum.Choices[1].Message.Content != whole.Choices[1].Message.Content || sum.Choices[0].Message.Role != "assistant" || sum.Usage.TotalTokens != whole.Usage.TotalTokens {
		t.Errorf("streamed %+v", sum)
	}
}

func TestOpenAIClientCompletions(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	client := r.client("any")
	for _, prompt := range []openai.CompletionNewParamsPromptUnion{
		{OfString: openai.String("Once upon a time")}, {OfArrayOfStrings: []string{"Once upon a time"}},
		{OfArrayOfTokens: []int64{1, 400}}, {OfArrayOfTokenArrays: [][]int64{{1, 400}}},
	} {
		ask := openai.CompletionNewParams{Model: "tiny", Prompt: prompt, MaxTokens: openai.Int(8), Temperature: openai.Float(0), Logprobs: openai.Int(2)}
		whole, err := client.Completions.New(t.Context(), ask)
		if err != nil {
			t.Fatal(err)
		}
		if l := whole.Choices[0].Logprobs; whole.Choices[0].Text == "" || len(l.Tokens) != 8 || len(l.TokenLogprobs) != 8 || len(l.TopLogprobs) != 8 || len(l.TextOffset) != 8 {
			t.Errorf("%s", whole.RawJSON())
		}
		stream := client.Completions.NewStreaming(t.Context(), ask)
		var words strings.Builder
		for stream.Next() {
			words.WriteString(stream.Current().Choices[0].Text)
		}
		if err := stream.Err(); err != nil || words.String() != whole.Choices[0].Text {
			t.Errorf("streamed %q, %v, want %q", words.String(), err, whole.Choices[0].Text)
		}
	}
	models, err := client.Models.List(t.Context())
	if err != nil || len(models.Data) != 1 || models.Data[0].ID != "tiny" {
		t.Errorf("%+v, %v", models, err)
	}
	if one, err := client.Models.Get(t.Context(), "tiny"); err != nil || one.ID != "tiny" {
		t.Errorf("%+v, %v", one, err)
	}
}

func TestOpenAIClientResponses(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{})
	client := r.client("any")
	for name, in := range map[string]responses.ResponseNewParamsInputUnion{
		"text": {OfString: openai.String("Write a story.")},
		"list": {OfInputItemList: responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("Write a story.", responses.EasyInputMessageRoleUser)}},
	} {
		for most, status := range map[int64]string{8: "incomplete", 900: "completed"} {
			ask := responses.ResponseNewParams{Model: "tiny", Input: in, Instructions: openai.String("Be kind."), Temperature: openai.Float(0), MaxOutputTokens: openai.Int(most),
				TopLogprobs: openai.Int(2), Include: []responses.ResponseIncludable{responses.ResponseIncludableMessageOutputTextLogprobs}}
			whole, err := client.Responses.New(t.Context(), ask)
			if err != nil {
				t.Fatal(err)
			}
			words := whole.OutputText()
			if words == "" || string(whole.Status) != status || whole.Usage.OutputTokens == 0 || len(whole.Output[0].Content[0].Logprobs) != int(whole.Usage.OutputTokens) {
				t.Errorf("%s: %.1000s", name, whole.RawJSON())
			}
			stream := client.Responses.NewStreaming(t.Context(), ask)
			var kinds []string
			deltas, next := "", int64(0)
			var end responses.Response
			for ; stream.Next(); next++ {
				e := stream.Current()
				if e.SequenceNumber != next {
					t.Errorf("event %d has number %d", next, e.SequenceNumber)
				}
				if n := len(kinds); n == 0 || kinds[n-1] != e.Type {
					kinds = append(kinds, e.Type)
				}
				if e.Type == "response.output_text.delta" {
					deltas += e.Delta
				}
				end = e.Response
			}
			want := "response.created response.in_progress response.output_item.added response.content_part.added response.output_text.delta " +
				"response.output_text.done response.content_part.done response.output_item.done response." + status
			if got := strings.Join(kinds, " "); stream.Err() != nil || got != want || deltas != words || end.OutputText() != words || end.Usage.TotalTokens != whole.Usage.TotalTokens {
				t.Errorf("%s streamed: %v: %s, %q, want %q", name, stream.Err(), got, deltas, words)
			}
		}
	}
}

func TestOpenAIClientErrors(t *testing.T) {
	r := serveTiny(t, engine.Config{}, Options{APIKey: "secret"})
	ask := func(model string, edit func(*openai.ChatCompletionNewParams)) openai.ChatCompletionNewParams {
		p := openai.ChatCompletionNewParams{Model: model, Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("a")}}
		edit(&p)
		return p
	}
	for name, c := range map[string]struct {
		key    string
		ask    openai.ChatCompletionNewParams
		status int
		code   string
		param  string
	}{
		"key":   {"other", ask("tiny", func(*openai.ChatCompletionNewParams) {}), http.StatusUnauthorized, "invalid_api_key", ""},
		"model": {"secret", ask("nobody", func(*openai.ChatCompletionNewParams) {}), http.StatusNotFound, "model_not_found", "model"},
		"n":     {"secret", ask("tiny", func(p *openai.ChatCompletionNewParams) { p.N = openai.Int(0) }), http.StatusBadRequest, "invalid_value", "n"},
		"long": {"secret", ask("tiny", func(p *openai.ChatCompletionNewParams) {
			p.Messages = append(p.Messages, openai.UserMessage(strings.Repeat("a b ", 2000)))
		}), http.StatusBadRequest, "context_length_exceeded", "messages"},
	} {
		client := r.client(c.key)
		_, whole := client.Chat.Completions.New(t.Context(), c.ask)
		streamed := client.Chat.Completions.NewStreaming(t.Context(), c.ask).Err()
		for _, err := range []error{whole, streamed} {
			var told *openai.Error
			if !errors.As(err, &told) || told.StatusCode != c.status || told.Code != c.code || told.Param != c.param || told.Message == "" || told.Type == "" {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
