// Package checkpoint reads models from files: folders of safetensors as the
// Hugging Face libraries write them, GGUF files, and the tiny model that is part
// of the program. It writes a checkpoint as a folder in bf16, too. A Stream reads
// tensors once and in order, for a weight update, also from what is no file.
//
// Whatever the file, tensors have their Hugging Face names and row order, and
// the configuration is a model.Config: weights and scales that safetensors has as a
// pair are one tensor, experts that GGUF has in one are many, and settings of GGUF are
// read as config.json would say them. What is unknown is refused with its name.
//
// ReadAdapter reads a LoRA adapter for a model from a folder that PEFT has written.
//
// Files are hostile: each length is compared with the file before memory is
// taken for it, and files are read, not mapped, so that one that shrinks later
// costs an error and not the process.
//
// Ownership and concurrency: a Checkpoint belongs to whoever opened it, and its
// fields are read-only. Tensors and ReadTensor may be called from any goroutine
// until Close. A Stream belongs to one goroutine at a time.
package checkpoint
