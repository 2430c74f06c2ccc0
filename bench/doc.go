// Package bench holds the workloads that the engine is measured with, and reads
// others of the same format: a JSON object that maps a name to its requests,
// each a prompt as token ids, the number of tokens to generate and, if it likes,
// a priority.
//
// The project's own workloads are part of the program: "single" is one request
// of 32 tokens that generates 128; "decode" 32 requests, 16 and 128; "mixed" 48
// requests, 32 to 256 and 32 to 128; "shared" 32 requests over one prefix of 768
// tokens, each 16 to 32. Their ids are of the vocabulary of SmolLM2. Others are made
// up, for any vocabulary. Folder compare, which is in Python, measures the peers on the
// same file. Folder gpu measures a GPU, with models of random weights.
//
// Workloads belong to whoever read them; nothing here is shared.
package bench
