// Package server answers HTTP with OpenAI's API: completions, chat, models, token ids, and
// what operators ask of a process.
//
// Purpose: a [Server] has models, each an engine.API for what runs and a texts.Service for
// its words, so that it serves an engine of this process as it does one elsewhere. Routes
// stand in one table (mux.go). What is sent and answered is OpenAI's, with the extensions
// that vLLM's clients know: token ids as prompts and in answers, min_tokens, ignore_eos,
// stop_token_ids, top_k, min_p, repetition_penalty, bad_words, allowed_token_ids, cache_salt,
// priority; and our own: timeout and first_token_timeout in seconds, min_weight_version,
// max_staleness and kv_policy for weights that change, and processed_logprobs.
//
// A text is kept to a format by response_format, text.format of responses, or vLLM's
// structured_outputs (json, regex, choice, json_object) and the older guided_json, guided_regex
// and guided_choice: package grammar says what of JSON schema is known; what is not is
// refused. A text that ends by itself has the format, strict or not; one that max_tokens cuts
// is its beginning. Name and description of a schema are not told to the model.
//
// Functions (tools) are told to the model by its chat template, and calls found in what it
// writes (package tools: the forms of Hermes and Llama 3). tool_choice required, or a
// function, has it write one call whose arguments hold to their schema; with auto they are
// what the model wrote, and may be no JSON. parallel_tool_calls false tells of the first call
// alone. A format goes with tools only where tool_choice is none.
//
// Conversations are laid out by the model's chat template, with vLLM's chat_template_kwargs,
// continue_final_message and add_generation_prompt; a continued message has none opened behind
// it, whether add_generation_prompt false says so or not. Content in parts goes to templates
// that go through parts, to others with line ends in between.
//
// Every answer tells in x_weights which version of the weights sampled each token, and which
// computed the cache that the last one came from; a stream does with the first chunk of each
// sequence, with those that change anything, and in full with its last. The header
// X-Weight-Version has the version that served when the answer began.
//
// Trainers pause a model, let it sleep, change its weights and load adapters by routes of
// administrators: docs/http.md has them, vLLM's and SGLang's are the same in other words. An
// engine's versions have names that are used once; what trainers call them otherwise are
// labels, which all answers tell. A path on this machine is read in Options.WeightsRoots alone.
//
// Decisions where servers differ:
//   - JSON is read as RFC 8259 has it: keys match by case, a key that comes twice, bytes
//     that are no UTF-8 and anything behind the body are errors. Keys that nobody knows are
//     ignored, but those that are known to change an answer elsewhere (unmet.go), and by our
//     own routes of administrators all, are refused (strict.go). Values of another type are
//     refused with the name of their parameter; null is as if it were not there.
//   - A prompt is never cut. max_tokens is, to what the context has room for.
//   - max_tokens 0 computes a prompt alone: for completions, where echo shows it, not for chats.
//   - What a request leaves out is as the model's authors recommend, else OpenAI's default.
//   - A higher priority goes first, but where vLLM's clients send token ids: there a lower one.
//   - finish_reason is tool_calls for every text with a call that has ended by itself, one that
//     was asked for by its name, too. It is also "abort" for what was given up,
//     "deadline" and "stale".
//   - A token that is no UTF-8 by itself is spelled "bytes:\xe2\x80".
//   - A model's adapters are models whose parent it is.
//
// What is told of requests, to Prometheus, the log and traces, is collected in one account for
// each (account.go), and has neither prompts nor texts nor keys. Metrics have vLLM's names,
// labels and buckets where it has them.
//
// Ownership: engines and services stay the caller's, and must outlive the Server. Each call
// owns its requests: their context is that of the connection, so that all of them are
// cancelled when the client has gone, when writing to it takes too long, or when one of
// them is refused. What a trainer has of a model, its pauses, its update, its labels, is the
// Server's, and outlasts connections: a pause ends with its lease, an update when no call has
// used it for as long as its lease, both with the Server. Bodies of weights are staged as they
// arrive and never whole in memory; others are counted before anything is made of them
// (bodies.go), and held, in bounded space for all, until they are answered; those of adapters
// lie in a folder of their own until the engine has read them. Drain waits for what clients
// have generated and what administrators have asked for.
//
// Concurrency: every method may be called from any goroutine. A call is answered on its
// connection's goroutine; a stream of several sequences has one more for each, which ends with it. No
// engine ever waits for a client: what it has not read stays in the engine's records.
package server
