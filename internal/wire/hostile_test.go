package wire_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/internal/wire"
	"github.com/cbactor/cbactor/messages"
)

// rawID is that of the client that speaks by itself, through protoactor's generated code.
const rawID = "hostile-0123456789"

// rawDial opens a stream as any gRPC client can.
func rawDial(t testing.TB, s *server) remote.Remoting_ReceiveClient {
	t.Helper()
	cc, err := grpc.NewClient("passthrough:///"+s.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cc.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	stream, err := remote.NewRemotingClient(cc).Receive(ctx, grpc.MaxCallSendMsgSize(64<<20))
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func connectAs(id string) *remote.RemoteMessage {
	return &remote.RemoteMessage{MessageType: &remote.RemoteMessage_ConnectRequest{ConnectRequest: &remote.ConnectRequest{
		ConnectionType: &remote.ConnectRequest_ClientConnection{ClientConnection: &remote.ClientConnection{SystemId: id}}}}}
}

func inFrame(b *remote.MessageBatch) *remote.RemoteMessage {
	return &remote.RemoteMessage{MessageType: &remote.RemoteMessage_MessageBatch{MessageBatch: b}}
}

// ofMessages is a batch as protoactor makes it, each message with a type of its own.
func ofMessages(t testing.TB, list ...proto.Message) *remote.MessageBatch {
	b := &remote.MessageBatch{Targets: []*actor.PID{{Address: "run-1", Id: "engine"}}}
	for i, m := range list {
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		b.TypeNames = append(b.TypeNames, string(proto.MessageName(m)))
		b.Envelopes = append(b.Envelopes, &remote.MessageEnvelope{TypeId: int32(i), MessageData: data})
	}
	return b
}

// greeted is a stream that has said who it is, and was answered.
func greeted(t testing.TB, s *server) remote.Remoting_ReceiveClient {
	t.Helper()
	stream := rawDial(t, s)
	if err := stream.Send(connectAs(rawID)); err != nil {
		t.Fatal(err)
	}
	m, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	if r := m.GetConnectResponse(); r.GetMemberId() != "run-1" || r.GetBlocked() {
		t.Fatalf("the answer is %v", m)
	}
	return stream
}

// What protoactor's generated code writes is understood, and it understands what is written.
func TestSpeaksRemoting(t *testing.T) {
	s := serve(t, answer)
	stream := greeted(t, s)
	b := ofMessages(t, &messages.Call{Number: 1}, &messages.Drop{Number: 1}, &messages.Call{Number: 2})
	b.Senders = []*actor.PID{{Address: rawID, Id: "me"}}
	b.Envelopes[2].Sender = 1
	if err := stream.Send(inFrame(b)); err != nil {
		t.Fatal(err)
	}
	for want := uint64(1); want < 3; {
		m, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		got := m.GetMessageBatch()
		for _, e := range got.Envelopes {
			var r messages.Reply
			if name := got.TypeNames[e.TypeId]; name != "cbactor.v1.Reply" {
				t.Fatalf("an answer of type %q", name)
			}
			if to := got.Targets[e.Target]; to.Address != rawID || to.Id != "client" {
				t.Errorf("an answer to %v", to)
			}
			if err := proto.Unmarshal(e.MessageData, &r); err != nil || r.Number != want {
				t.Errorf("answer %v, %v, want %d", &r, err, want)
			}
			want++
		}
	}
	next[*wire.Opened](s.engine)
	next[*messages.Drop](s.engine)
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if closed := next[*wire.Closed](s.engine); closed.Err != nil {
		t.Errorf("hanging up is %v", closed.Err)
	}
}

// hostile are frames that a client must not send, each after its greeting.
func hostile(t testing.TB) map[string]*remote.RemoteMessage {
	call := func(change func(*remote.MessageBatch)) *remote.RemoteMessage {
		b := ofMessages(t, &messages.Call{Number: 1})
		change(b)
		return inFrame(b)
	}
	return map[string]*remote.RemoteMessage{
		"unknown type":       call(func(b *remote.MessageBatch) { b.TypeNames[0] = "no.such.Type" }),
		"type of another":    inFrame(ofMessages(t, &messages.Reply{})),
		"actor.Stop":         inFrame(ofMessages(t, &actor.Stop{})),
		"actor.Watch":        inFrame(ofMessages(t, &actor.Watch{Watcher: actor.NewPID("x", "y")})),
		"actor.PoisonPill":   inFrame(ofMessages(t, &actor.PoisonPill{})),
		"actor.Terminated":   inFrame(ofMessages(t, &actor.Terminated{})),
		"messages.Stop":      inFrame(ofMessages(t, &messages.Stop{Hard: true})),
		"serializer 99":      call(func(b *remote.MessageBatch) { b.Envelopes[0].SerializerId = 99 }),
		"serializer -1":      call(func(b *remote.MessageBatch) { b.Envelopes[0].SerializerId = -1 }),
		"target 7":           call(func(b *remote.MessageBatch) { b.Envelopes[0].Target = 7 }),
		"target -1":          call(func(b *remote.MessageBatch) { b.Envelopes[0].Target = -1 }),
		"no target":          call(func(b *remote.MessageBatch) { b.Targets = nil }),
		"type 1":             call(func(b *remote.MessageBatch) { b.Envelopes[0].TypeId = 1 }),
		"type -1":            call(func(b *remote.MessageBatch) { b.Envelopes[0].TypeId = -1 }),
		"no type":            call(func(b *remote.MessageBatch) { b.TypeNames = nil }),
		"foreign address":    call(func(b *remote.MessageBatch) { b.Targets[0].Address = "10.0.0.1:80" }),
		"local address":      call(func(b *remote.MessageBatch) { b.Targets[0].Address = "nonhost" }),
		"another actor":      call(func(b *remote.MessageBatch) { b.Targets[0].Id = "supervisor" }),
		"actor of a request": call(func(b *remote.MessageBatch) { b.Targets[0].RequestId = 3 }),
		"target of request":  call(func(b *remote.MessageBatch) { b.Envelopes[0].TargetRequestId = 3 }),
		"sender of request":  call(func(b *remote.MessageBatch) { b.Envelopes[0].SenderRequestId = 3 }),
		"header":             call(func(b *remote.MessageBatch) { b.Envelopes[0].MessageHeader = &remote.MessageHeader{} }),
		"sender of another":  call(func(b *remote.MessageBatch) { b.Senders = []*actor.PID{{Address: "victim-0123456789", Id: "a"}} }),
		"sender 1 of 0":      call(func(b *remote.MessageBatch) { b.Envelopes[0].Sender = 1 }),
		"10,000 types": call(func(b *remote.MessageBatch) {
			for range 10_000 {
				b.TypeNames = append(b.TypeNames, b.TypeNames[0])
			}
		}),
		"10,000 targets": call(func(b *remote.MessageBatch) {
			for range 10_000 {
				b.Targets = append(b.Targets, b.Targets[0])
			}
		}),
		"malformed message":      call(func(b *remote.MessageBatch) { b.Envelopes[0].MessageData = []byte{0xff} }),
		"huge name":              call(func(b *remote.MessageBatch) { b.Targets[0].Id = strings.Repeat("x", 1<<20) }),
		"message too large":      inFrame(ofMessages(t, &messages.Call{What: &messages.Call_PutChunk{PutChunk: &messages.PutChunk{Data: make([]byte, 4<<20)}}})),
		"frame too large":        inFrame(ofMessages(t, &messages.Call{What: &messages.Call_PutChunk{PutChunk: &messages.PutChunk{Data: make([]byte, 5<<20)}}})),
		"a million parts":        call(func(b *remote.MessageBatch) { b.Envelopes[0].MessageData = manyParts() }),
		"connecting again":       connectAs(rawID),
		"a response":             {MessageType: &remote.RemoteMessage_ConnectResponse{ConnectResponse: &remote.ConnectResponse{}}},
		"nothing":                {},
		"a batch, then a Stop":   inFrame(ofMessages(t, &messages.Call{Number: 1}, &actor.Stop{})),
		"text that is not UTF-8": inFrame(&remote.MessageBatch{TypeNames: []string{"cbactor.v1.Call"}, Targets: []*actor.PID{{Id: "engine"}}, Envelopes: []*remote.MessageEnvelope{{MessageData: []byte("\xb2\x01\x03\x0a\x01\xff")}}}),
	}
}

// manyParts is a Call with a BeginUpdate with a Manifest of a million empty entries.
func manyParts() []byte {
	data := bytes.Repeat([]byte{1<<3 | 2, 0}, 1_000_000)
	for _, number := range []protowire.Number{4, 60} {
		data = protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), data)
	}
	return data
}

func TestHostileFrames(t *testing.T) {
	s := serve(t, answer)
	bystander := s.dial(t, s.options())
	next[*wire.Opened](s.engine)
	number, ended := uint64(0), int64(0)
	for name, frame := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			stream := greeted(t, s)
			next[*wire.Opened](s.engine)
			if err := stream.Send(frame); err != nil && !errors.Is(err, context.Canceled) {
				t.Log(err) // the verdict may come before all is sent
			}
			var err error
			for err == nil {
				_, err = stream.Recv() // what stood before the forbidden part may be answered
			}
			if code := status.Code(err); code != codes.InvalidArgument && code != codes.ResourceExhausted {
				t.Errorf("the client is told %v", err)
			}
			if closed := next[*wire.Closed](s.engine); !errors.Is(closed.Err, wire.ErrProtocol) {
				t.Errorf("the engine is told %v", closed.Err)
			} else if name == "a million parts" && !strings.Contains(closed.Err.Error(), "parts") {
				t.Errorf("another thing is wrong with it: %v", closed.Err)
			}
			ended++
			s.counts(t, ended, func(c wire.Stats) int64 { return c.Forbidden })
			number++
			bystander.send(&messages.Call{Number: number})
			if r := next[*messages.Reply](bystander.owner); r.Number != number {
				t.Errorf("the bystander is answered %d, want %d", r.Number, number)
			}
		})
	}
}

// A connection that does not begin as it must never reaches an actor.
func TestHostileGreetings(t *testing.T) {
	s := serve(t, answer)
	for name, frame := range map[string]*remote.RemoteMessage{
		"none":        inFrame(ofMessages(t, &messages.Call{})),
		"nothing":     {},
		"no kind":     {MessageType: &remote.RemoteMessage_ConnectRequest{ConnectRequest: &remote.ConnectRequest{}}},
		"short id":    connectAs("short"),
		"long id":     connectAs(strings.Repeat("x", 65)),
		"odd id":      connectAs("../../etc/passwd/"),
		"a server":    {MessageType: &remote.RemoteMessage_ConnectRequest{ConnectRequest: &remote.ConnectRequest{ConnectionType: &remote.ConnectRequest_ServerConnection{ServerConnection: &remote.ServerConnection{SystemId: rawID, Address: "127.0.0.1:1"}}}}},
		"a farewell":  {MessageType: &remote.RemoteMessage_DisconnectRequest{DisconnectRequest: &remote.DisconnectRequest{}}},
		"a megabyte":  connectAs(strings.Repeat("x", 1<<20)),
		"five of 'em": connectAs(strings.Repeat("x", 5<<20)),
	} {
		t.Run(name, func(t *testing.T) {
			stream := rawDial(t, s)
			if err := stream.Send(frame); err != nil {
				t.Log(err)
			}
			if _, err := stream.Recv(); status.Code(err) != codes.InvalidArgument && status.Code(err) != codes.ResourceExhausted {
				t.Errorf("the client is told %v", err)
			} else if name == "a server" && !strings.Contains(err.Error(), "only clients connect here") {
				t.Errorf("a server is told %v", err)
			}
		})
	}
	if got := s.Stats(); got.Accepted != 0 {
		t.Errorf("stats %+v", got)
	}
	select {
	case m := <-s.engine.came:
		t.Errorf("the engine is sent %v", m)
	default:
	}
}

// The rest of protoactor's service tells nothing.
func TestProcessesAreNotListed(t *testing.T) {
	s := serve(t, answer)
	cc, err := grpc.NewClient("passthrough:///"+s.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer cc.Close()
	c := remote.NewRemotingClient(cc)
	if r, err := c.ListProcesses(t.Context(), &remote.ListProcessesRequest{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("ListProcesses: %v, %v", r, err)
	}
	if r, err := c.GetProcessDiagnostics(t.Context(), &remote.GetProcessDiagnosticsRequest{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("GetProcessDiagnostics: %v, %v", r, err)
	}
}

// A panic where a client is let in costs that client its connection, and the engine nothing.
func TestPanicInAccept(t *testing.T) {
	first := true
	s := serve(t, answer)
	bad := serve(t, answer, func(o *wire.ServerOptions) {
		o.Accept = func(wire.Peer) (*actor.PID, error) {
			if first {
				first = false
				panic("a defect")
			}
			return nil, fmt.Errorf("not today")
		}
	})
	for _, want := range []error{wire.ErrEnded, wire.ErrLost} {
		o := bad.options()
		o.Owner = s.engine.pid
		if _, err := wire.Dial(t.Context(), s.system, o); !errors.Is(err, want) {
			t.Errorf("dialing is %v, want %v", err, want)
		}
	}
}
