package model

import "errors"

var (
	// ErrConfig means that a configuration contradicts itself or is no configuration.
	ErrConfig = errors.New("invalid model configuration")
	// ErrUnsupported means that a model asks for something that is not implemented.
	ErrUnsupported = errors.New("unsupported model")
	// ErrShard means that a model cannot be divided among so many ranks.
	ErrShard = errors.New("model cannot be divided")
	// ErrMissing means that a tensor of the model is not in its files, or was not sent.
	ErrMissing = errors.New("weights: tensor is missing")
)
