// Package tiny is the model that is embedded in the program: a Llama of 1.37
// million parameters which writes small children's stories. README.md says where
// it comes from. golden.json, what the reference implementation computes with it,
// is not embedded.
//
// Ownership and concurrency: read-only data.
package tiny
