package wire_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/messages"
)

// bytesCodec sends bytes as they are.
type bytesCodec struct{}

func (bytesCodec) Name() string { return "proto" }

func (bytesCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (bytesCodec) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// FuzzFrames: whatever a client sends, in whichever frames, others are served.
func FuzzFrames(f *testing.F) {
	s := serve(f, answer)
	bystander := s.dial(f, s.options())
	next[*wire.Opened](s.engine)
	cc, err := grpc.NewClient("passthrough:///"+s.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := cc.Close(); err != nil {
			f.Error(err)
		}
	})
	for _, frame := range hostile(f) {
		data, err := proto.Marshal(frame)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 1000 {
			f.Add(data, true)
		}
	}
	greeting, err := proto.Marshal(connectAs(rawID))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(greeting, false)
	number := uint64(0)
	f.Fuzz(func(t *testing.T, frame []byte, greet bool) {
		bystander.owner.t = t
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		stream, err := cc.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/remote.Remoting/Receive", grpc.ForceCodecV2(bytesCodec{}))
		if err != nil {
			t.Fatal(err)
		}
		frames := [][]byte{frame}
		if greet {
			frames = [][]byte{greeting, frame}
		}
		for _, data := range frames {
			if stream.SendMsg(&data) != nil {
				break // receiving says why
			}
		}
		if err := stream.CloseSend(); err != nil {
			t.Fatal(err)
		}
		for err == nil {
			var answer []byte
			err = stream.RecvMsg(&answer)
		}
		if ctx.Err() != nil {
			t.Fatal("the connection does not end")
		}
		for len(s.engine.came) > 0 {
			<-s.engine.came
		}
		number++
		bystander.send(&messages.Call{Number: number})
		if r := next[*messages.Reply](bystander.owner); r.Number != number {
			t.Fatalf("the bystander is answered %d, want %d", r.Number, number)
		}
	})
}
