package wiretest

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/cbactor/cbactor/messages"
)

// PlainStream is a stream of gRPC's alone, with which to compare: to a server that reads every
// messages.Call, until nothing more is sent, and then answers with one messages.Reply.
func PlainStream(b testing.TB) grpc.ClientStream {
	server := grpc.NewServer()
	desc := grpc.StreamDesc{StreamName: "Put", ClientStreams: true, Handler: func(_ any, s grpc.ServerStream) error {
		for {
			var m messages.Call
			if err := s.RecvMsg(&m); errors.Is(err, io.EOF) {
				return s.SendMsg(&messages.Reply{})
			} else if err != nil {
				return err
			}
		}
	}}
	server.RegisterService(&grpc.ServiceDesc{ServiceName: "plain", HandlerType: (*any)(nil), Streams: []grpc.StreamDesc{desc}}, struct{}{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- server.Serve(l) }()
	cc, err := grpc.NewClient("passthrough:///"+l.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	stream, err := cc.NewStream(context.Background(), &desc, "/plain/Put")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		err := cc.Close()
		server.Stop()
		if err := errors.Join(err, <-served); err != nil {
			b.Error(err)
		}
	})
	return stream
}
