package wire

import (
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/grpclog"
)

const receiveMethod = "/remote.Remoting/Receive"

// receiveStream is the one method of protoactor's Remoting service that is served. The two others
// tell of processes, which is nobody's business.
var receiveStream = grpc.StreamDesc{
	StreamName:    "Receive",
	Handler:       func(server any, s grpc.ServerStream) error { return server.(*Server).receive(s) },
	ServerStreams: true,
	ClientStreams: true,
}

var remoting = grpc.ServiceDesc{
	ServiceName: "remote.Remoting",
	HandlerType: (*any)(nil),
	Streams:     []grpc.StreamDesc{receiveStream},
	Metadata:    "remote.proto",
}

// gRPC writes to stderr of its own accord whatever a peer does wrong; it has to be told before
// it is used for the first time.
func init() {
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
}
