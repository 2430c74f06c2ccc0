package wire

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// codec hands frames through as they are: they are encoded and parsed here, not by gRPC.
type codec struct{}

var _ encoding.CodecV2 = codec{}

// Name is that of the encoding which the frames have.
func (codec) Name() string { return "proto" }

func (codec) Marshal(v any) (mem.BufferSlice, error) {
	frame, ok := v.(mem.BufferSlice)
	if !ok {
		return nil, fmt.Errorf("%T is no frame", v)
	}
	return frame, nil
}

func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	frame, ok := v.(*received)
	if !ok {
		return fmt.Errorf("%T is no frame", v)
	}
	frame.memory = data.MaterializeToBuffer(mem.DefaultBufferPool())
	return nil
}

// received is a frame that was read, in one piece.
type received struct{ memory mem.Buffer }
