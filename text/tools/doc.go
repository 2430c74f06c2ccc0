// Package tools finds the tool calls of a model in its text while it is generated.
//
// Purpose: models that were taught to call functions write calls in the form of their
// chat template. A [Parser] takes the text of an answer in pieces, as a text.Session gives
// it, and tells what is words and what is a call: its name as soon as it is certain, then
// its arguments piece by piece, so that a server can stream them. [Of] tells a template's
// form; [Force] is the grammar of answers that must be calls.
//
//   - Hermes, also of ChatML models such as Qwen 2.5 and 3:
//     <tool_call>{"name": "f", "arguments": {…}}</tool_call>, among words, any number of times.
//   - Llama 3: the whole answer is {"name": "f", "parameters": {…}}, several with semicolons
//     between them, <|python_tag|> before it or not.
//
// What is begun like a call and is none, such as JSON without a name, is words, as it was
// written. A call that breaks off after its name was told stays a call with the arguments
// there are: whoever runs it must expect arguments that are no JSON, with any parser. [Force]
// rules it out, up to the limit of tokens.
//
// What is held back is what may become a call, and white space beside one, which is dropped.
// Time is linear in the text, memory in what is held back.
//
// Ownership and concurrency: a Parser belongs to one goroutine; what it returns, to the
// caller. No library is used: those for Go parse whole answers of one service each.
package tools
