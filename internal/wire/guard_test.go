package wire

import (
	"errors"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/messages"
)

func testGuard() *guard {
	return &guard{types: typesByName([]proto.Message{&messages.Call{}, &messages.Ack{}}), target: address{"run-1", engineName}, peer: "client-0123456789", largest: 1 << 16}
}

// passed are the messages that a guard lets through.
func passed(t testing.TB, g *guard, frame []byte) (list []proto.Message, err error) {
	kind, body, err := parseFrame(frame)
	if err != nil {
		return nil, err
	}
	switch kind {
	case frameBatch:
		err = g.messages(body, func(m proto.Message, bytes int) {
			if bytes > len(frame) {
				t.Errorf("a message of %d bytes in a frame of %d", bytes, len(frame))
			}
			list = append(list, m)
		})
	case frameConnect:
		_, err = parseConnect(body)
	case frameConnected:
		_, _, err = parseConnected(body)
	}
	return list, err
}

// FuzzGuard: whatever comes is refused or is what protoactor's generated code reads, too.
func FuzzGuard(f *testing.F) {
	for _, m := range []*remote.RemoteMessage{
		{MessageType: &remote.RemoteMessage_ConnectRequest{ConnectRequest: &remote.ConnectRequest{ConnectionType: &remote.ConnectRequest_ClientConnection{ClientConnection: &remote.ClientConnection{SystemId: "client-0123456789"}}}}},
		{MessageType: &remote.RemoteMessage_ConnectResponse{ConnectResponse: &remote.ConnectResponse{MemberId: "run-1", Blocked: true}}},
		{MessageType: &remote.RemoteMessage_DisconnectRequest{DisconnectRequest: &remote.DisconnectRequest{}}},
		{MessageType: &remote.RemoteMessage_MessageBatch{MessageBatch: &remote.MessageBatch{
			TypeNames: []string{"cbactor.v1.Ack", "cbactor.v1.Call"},
			Targets:   []*actor.PID{{Address: "run-1", Id: "engine"}, {Id: "engine"}},
			Senders:   []*actor.PID{{Address: "client-0123456789", Id: "me"}},
			Envelopes: []*remote.MessageEnvelope{
				{TypeId: 1, MessageData: []byte("\x08\x01\xa2\x01\x07\x0a\x05\x12\x03\x0a\x01\x05"), Target: 1, Sender: 1},
				{MessageData: []byte("\x0a\x02\x08\x01")},
			}}}},
	} {
		frame, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		if _, err := passed(f, testGuard(), frame); err != nil {
			f.Fatal(err)
		}
		f.Add(frame)
	}
	f.Add(connectRequest("client-0123456789"))
	f.Add(connectResponse("run-1"))
	f.Fuzz(func(t *testing.T, frame []byte) {
		list, err := passed(t, testGuard(), frame)
		if err != nil {
			if !errors.Is(err, ErrProtocol) {
				t.Errorf("an error without its class: %v", err)
			}
			return
		}
		var twin remote.RemoteMessage
		if proto.Unmarshal(frame, &twin) != nil {
			return // what is not used here may be malformed, such as the name of a sender
		}
		envelopes := twin.GetMessageBatch().GetEnvelopes()
		if len(envelopes) != len(list) {
			t.Fatalf("%d messages, protoactor reads %d", len(list), len(envelopes))
		}
		for i, e := range envelopes {
			if got := string(list[i].ProtoReflect().Descriptor().FullName()); got != twin.GetMessageBatch().TypeNames[e.TypeId] {
				t.Errorf("message %d is a %s, protoactor reads %s", i, got, twin.GetMessageBatch().TypeNames[e.TypeId])
			}
			want := list[i].ProtoReflect().New().Interface()
			if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(e.MessageData, want); err != nil {
				t.Fatal(err)
			}
			if !proto.Equal(want, list[i]) {
				t.Errorf("message %d is %v, protoactor reads %v", i, list[i], want)
			}
		}
	})
}

// What a queue puts together passes a guard, whatever is mixed.
func TestBatchesPassTheGuard(t *testing.T) {
	q := newQueue(DefaultLimits)
	q.largest = 1 << 16
	q.target = encodedTarget(address{"run-1", engineName})
	var sent []proto.Message
	for i := range 3000 {
		var m proto.Message = &messages.Call{Number: uint64(i)}
		switch {
		case i%7 == 0:
			m = &messages.Ack{Taken: []*messages.Taken{{Stream: uint64(i), Done: true}}}
		case i%100 == 1:
			m = &messages.Call{What: &messages.Call_PutChunk{PutChunk: &messages.PutChunk{Data: make([]byte, 40_000)}}}
		case i%100 == 2:
			m = &messages.Call{}
		}
		sent = append(sent, m)
		if err := q.put(m); err != nil {
			t.Fatal(err)
		}
	}
	total := q.bytes
	q.close(false)
	var came []proto.Message
	written := 0
	for {
		frame, bytes, _, ok := q.take(written)
		if !ok {
			break
		}
		written = bytes
		total -= bytes
		list, err := passed(t, testGuard(), frame.Materialize())
		if err != nil {
			t.Fatal(err)
		}
		frame.Free()
		came = append(came, list...)
	}
	if total != 0 || q.bytes != 0 {
		t.Errorf("%d bytes were counted too many, %d are left", total, q.bytes)
	}
	if len(came) != len(sent) {
		t.Fatalf("%d messages of %d", len(came), len(sent))
	}
	for i := range sent {
		if !proto.Equal(sent[i], came[i]) {
			t.Fatalf("message %d is another one", i)
		}
	}
}

// Counting parts takes no memory, and stops at the bound.
func TestPartsAreCountedFirst(t *testing.T) {
	manifest := &messages.Manifest{}
	for range maxParts {
		manifest.Tensors = append(manifest.Tensors, &messages.Entry{})
	}
	for _, c := range []struct {
		tensors int
		ok      bool
	}{{maxParts - 3, true}, {maxParts, false}} {
		manifest.Tensors = manifest.Tensors[:c.tensors]
		data, err := proto.Marshal(&messages.Call{What: &messages.Call_BeginUpdate{BeginUpdate: &messages.BeginUpdate{Manifest: manifest}}})
		if err != nil {
			t.Fatal(err)
		}
		d := (&messages.Call{}).ProtoReflect().Descriptor()
		left := maxParts
		if err := countParts(d, data, maxDepth, &left); (err == nil) != c.ok {
			t.Errorf("%d tensors: %v", c.tensors, err)
		}
		if c.ok {
			if n := testing.AllocsPerRun(10, func() { left = maxParts; _ = countParts(d, data, maxDepth, &left) }); n > 0 {
				t.Errorf("%v allocations", n)
			}
		}
	}
	deep := []byte{}
	for range 40 {
		deep = appendMessage(nil, 4, deep) // Drawn.top
	}
	left := maxParts
	if err := countParts((&messages.Drawn{}).ProtoReflect().Descriptor(), deep, maxDepth, &left); !errors.Is(err, ErrProtocol) {
		t.Errorf("forty levels: %v", err)
	}
}
