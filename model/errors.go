package model

import "errors"

var (
	// ErrConfig means that a configuration contradicts itself or is no configuration.
	ErrConfig = errors.New("invalid model configuration")
	// ErrUnsupported means that a model asks for something that is not implemented.
	ErrUnsupported = errors.New("unsupported model")
)
