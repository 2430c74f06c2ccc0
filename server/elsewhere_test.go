package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/executor"
	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/text"
)

// An engine in another process is served as one of this process is.
func TestEngineElsewhere(t *testing.T) {
	r := serveCalls(t, hermesTemplate, nil)
	client := r.elsewhere()
	here := r.server.models[0]
	elsewhere := here
	elsewhere.Engine, elsewhere.Texts = client, client
	for _, c := range []struct {
		path string
		body object
	}{
		{completionsPath, object{"prompt": []string{"Once upon a time", "One day"}, "n": 2, "seed": 3, "temperature": 0.8, "max_tokens": 10, "logprobs": 2, "stop": "girl", "return_token_ids": true}},
		{completionsPath, object{"prompt": "A pet: ", "seed": 3, "max_tokens": 200, "structured_outputs": object{"json": pet}}},
		{chatPath, object{"messages": say("Write a story."), "temperature": 0, "max_tokens": 10, "return_token_ids": true}},
		{chatPath, object{"messages": say("Rain?"), "seed": 3, "max_tokens": 200, "tools": []object{weather}, "tool_choice": "required"}},
	} {
		r.server.models[0] = here
		want := r.ask(c.path, c.body)
		r.server.models[0] = elsewhere
		for _, got := range []told{r.ask(c.path, c.body), r.streamed(c.path, c.body)} {
			for i := range want.Choices {
				if got, want := plain(t, got.Choices[i]), plain(t, want.Choices[i]); !reflect.DeepEqual(got, want) {
					t.Errorf("%+v, here %+v", got, want)
				}
			}
		}
	}
	r.refused(completionsPath, object{"prompt": "a", "guided_regex": "("}, 400, "guided_regex", "bad_grammar")
	r.refused(completionsPath, object{"prompt": "a", "guided_choice": []string{"a"}, "allowed_token_ids": r.codec.EncodeRaw("a")}, 400, "guided_choice", "grammar_complete")
	r.refused(completionsPath, object{"prompt": []int32{5000}}, 400, "prompt", "invalid_token_id")
	r.refused(completionsPath, object{"prompt": count(2000)}, 400, "prompt", "context_length_exceeded")
}

// An adapter is a model, whose parent it is added to.
func TestAdapterIsAModel(t *testing.T) {
	model, err := checkpoint.Open(filepath.Join("..", "test", "testdata", "families", "llama"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := model.Close(); err != nil {
			t.Error(err)
		}
	}()
	_, codec := tinyModel(t)
	r := serve(t, engine.Config{Checkpoint: model, Executor: executor.NewEcho(executor.EchoConfig{Blocks: 64, Adapters: 1, Vocab: 2048})}, Options{}, codec, nil)
	if err := r.engine.LoadAdapter(t.Context(), "policy-v1", os.DirFS(filepath.Join("..", "test", "testdata", "adapters", "bf16"))); err != nil {
		t.Fatal(err)
	}
	var list modelList
	if r.get("/v1/models", &list); len(list.Data) != 2 || list.Data[1].ID != "policy-v1" || value(list.Data[1].Parent) != "tiny" {
		t.Errorf("%+v", list)
	}
	a := r.ask(completionsPath, object{"model": "policy-v1", "prompt": count(5), "max_tokens": 4, "ignore_eos": true, "return_token_ids": true})
	if want := executor.EchoRef(count(5), 4, 2048, 1+executor.EchoAdapter("policy-v1")); a.Model != "policy-v1" || !slices.Equal(a.Choices[0].IDs, want) {
		t.Errorf("%+v, want %v", a, want)
	}
}

// failing is a service whose texts cannot be had.
type failing struct {
	texts.Service
	err error
}

func (f failing) Encode(context.Context, texts.Prompt) ([]int32, error) { return nil, f.err }

// I6: what a chat template says of messages is told to who sent them.
func TestReportI6Template(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	for code, err := range map[string]error{
		"chat_template":           fmt.Errorf("%w: roles must alternate", text.ErrTemplate),
		"no_chat_template":        text.ErrNoTemplate,
		"no_tokenizer":            text.ErrNoTokenizer,
		"control_token":           fmt.Errorf("%w: \"</s>\"", text.ErrControlToken),
		"tokenizer_pattern":       text.ErrPattern,
		"context_length_exceeded": text.ErrTooLong,
	} {
		r.server.models[0].Texts = failing{r.server.models[0].Texts, err}
		if message := r.refused(chatPath, object{"messages": say("a")}, 400, "messages", code); !strings.Contains(message, err.Error()) {
			t.Errorf("%q does not say %q", message, err)
		}
	}
}

// What a request leaves out is as the model's authors recommend, or OpenAI's default.
func TestDefaults(t *testing.T) {
	for name, c := range map[string]struct {
		defaults *sampling.Params
		asked    params
		want     sampling.Params
	}{
		"OpenAI's": {nil, params{}, sampling.Params{Temperature: 1}},
		"theirs":   {&sampling.Params{Temperature: 0.6, TopP: 0.9, TopK: 50}, params{}, sampling.Params{Temperature: 0.6, TopP: 0.9, TopK: 50}},
		"asked":    {&sampling.Params{Temperature: 0.6, TopP: 0.9, TopK: 50}, params{Temperature: new(0.0), TopP: new(0.5), TopK: new(-1)}, sampling.Params{TopP: 0.5}},
	} {
		r, err := c.asked.request(&Model{Defaults: c.defaults}, false)
		if err != nil || !reflect.DeepEqual(r.Sampling, c.want) {
			t.Errorf("%s: %+v, %v", name, r.Sampling, err)
		}
	}
}
