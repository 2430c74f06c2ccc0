package server

import (
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// What is refused is told by the names that it has over HTTP.
func TestRefusedByTheNamesOfHTTP(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	for body, want := range map[string]struct{ param, code, says string }{
		`"stop_token_ids":[99999]`:                                   {"stop_token_ids", "invalid_token_id", "id 99999, the vocabulary has 2048"},
		`"stop_token_ids":[5,-4]`:                                    {"stop_token_ids", "invalid_token_id", "id -4, the vocabulary has 2048"},
		`"logit_bias":{"99999":1}`:                                   {"logit_bias", "invalid_token_id", "id 99999"},
		`"allowed_token_ids":[99999]`:                                {"allowed_token_ids", "invalid_token_id", "id 99999"},
		`"allowed_token_ids":[-1]`:                                   {"allowed_token_ids", "invalid_token_id", "id -1"},
		`"min_tokens":5,"max_tokens":3`:                              {"min_tokens", "invalid_value", "is 5, and at most 3 tokens may come"},
		`"min_tokens":5000,"max_tokens":6000`:                        {"min_tokens", "invalid_value", "at most 126 tokens"},
		`"min_tokens":5,"max_tokens":0`:                              {"min_tokens", "invalid_value", "at most 0 tokens"},
		`"bad_words":[""]`:                                           {"bad_words", "invalid_value", "has an empty text"},
		`"allowed_token_ids":[0],"min_tokens":1`:                     {"allowed_token_ids", "invalid_value", "allowed_token_ids are all banned by bad_words or min_tokens"},
		`"max_tokens":2147483648`:                                    {"max_tokens", "invalid_value", "is 2147483648, must be from 0 to 2147483647"},
		`"top_p":0`:                                                  {"top_p", "invalid_value", "is 0, must be above 0 and at most 1"},
		`"temperature":2.5`:                                          {"temperature", "invalid_value", "is 2.5, must be from 0 to 2"},
		`"repetition_penalty":0.05,"stop_token_ids":[1,2],"top_p":1`: {"repetition_penalty", "invalid_value", "must be from 0.1 to 10"},
	} {
		says := r.refused(completionsPath, `{"prompt":[1,5],`+body+`}`, 400, want.param, want.code)
		if !strings.Contains(says, want.says) || strings.Contains(says, "request rejected") {
			t.Errorf("%s: %q, want %q", body, says, want.says)
		}
	}
	r.ask(completionsPath, `{"prompt":[1,5],"max_tokens":5,"min_tokens":5,"stop_token_ids":[0,2047],"logit_bias":{"2047":1},"allowed_token_ids":[5,2047]}`)
	r.refused("/generate", `{"input_ids":[5],"sampling_params":{"min_new_tokens":5000,"max_new_tokens":null}}`, 400, "min_new_tokens", "invalid_value")
}

// Who is refused by a pause is told how it ends.
func TestPausedSaysHowToGoOn(t *testing.T) {
	r := serveEcho(t, executor.EchoConfig{}, engine.Config{}, Options{})
	r.pause("")
	if says := r.refused(completionsPath, long(1), 503, "", "engine_paused"); !strings.Contains(says, "/resume") {
		t.Error(says)
	}
	r.resume("")
	var told sleepTold
	r.control("/sleep?level=0", nil, &told)
	if says := r.refused(completionsPath, long(1), 503, "", "engine_asleep"); !strings.Contains(says, "/wake_up") {
		t.Error(says)
	}
}
