package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const (
	maxNames = 64 // types that a batch may name, targets and senders likewise
	maxName  = 128
)

// guard lets through what a peer may send. It belongs to the goroutine that reads.
type guard struct {
	types   map[string]protoreflect.MessageType // by full name: all that may come
	target  address                             // the one that may be addressed
	peer    string                              // the address that a sender may have
	largest int                                 // bytes of a message

	batch struct { // the one that is read
		types            []protoreflect.MessageType
		targets, senders int
	}
}

// address is a PID's: the address may be left out.
type address struct{ host, name string }

func typesByName(list []proto.Message) map[string]protoreflect.MessageType {
	types := make(map[string]protoreflect.MessageType, len(list))
	for _, m := range list {
		types[string(m.ProtoReflect().Descriptor().FullName())] = m.ProtoReflect().Type()
	}
	return types
}

// messages hands on each message of a MessageBatch, in order, with its bytes on the wire. What
// stands before something forbidden may have been handed on.
func (g *guard) messages(body []byte, deliver func(m proto.Message, bytes int)) error {
	if err := g.names(body); err != nil {
		return err
	}
	for len(body) > 0 {
		f, rest, err := nextField(body)
		if err != nil {
			return err
		}
		if body = rest; f.number != batchEnvelope {
			continue
		}
		m, err := g.envelope(f.bytes)
		if err != nil {
			return err
		}
		deliver(m, len(f.bytes))
	}
	return nil
}

// names reads what the envelopes refer to by index, which may stand behind them.
func (g *guard) names(body []byte) error {
	g.batch.types, g.batch.targets, g.batch.senders = g.batch.types[:0], 0, 0
	for len(body) > 0 {
		f, rest, err := nextField(body)
		if err != nil {
			return err
		}
		body = rest
		switch f.number {
		case batchType, batchTarget, batchSender, batchEnvelope:
			if f.kind != protowire.BytesType {
				return forbidden("malformed: field %d of a batch", f.number)
			}
		}
		switch f.number {
		case batchType:
			known, ok := g.types[string(f.bytes)]
			if !ok {
				return forbidden("a message of type %.*q", maxName, f.bytes)
			}
			g.batch.types = append(g.batch.types, known)
		case batchTarget:
			g.batch.targets++
			if a, err := parsePID(f.bytes); err != nil {
				return err
			} else if a.name != g.target.name || a.host != "" && a.host != g.target.host {
				return forbidden("a message to %q at %q", a.name, a.host)
			}
		case batchSender:
			g.batch.senders++
			if a, err := parsePID(f.bytes); err != nil {
				return err
			} else if a.host != g.peer {
				return forbidden("a message from %q at %q", a.name, a.host)
			}
		}
		if max(len(g.batch.types), g.batch.targets, g.batch.senders) > maxNames {
			return forbidden("a batch that names more than %d types, targets or senders", maxNames)
		}
	}
	return nil
}

func parsePID(data []byte) (a address, err error) {
	for len(data) > 0 {
		f, rest, err := nextField(data)
		switch data = rest; {
		case err != nil:
			return a, err
		case f.number == pidRequest:
			return a, forbidden("a PID of a request")
		case f.number <= pidName && f.kind != protowire.BytesType:
			return a, forbidden("malformed: field %d of a PID", f.number)
		case len(f.bytes) > maxName:
			return a, forbidden("a PID of more than %d bytes", maxName)
		case f.number == pidAddress:
			a.host = string(f.bytes)
		case f.number == pidName:
			a.name = string(f.bytes)
		}
	}
	return a, nil
}

// envelope is the message in a MessageEnvelope.
func (g *guard) envelope(data []byte) (proto.Message, error) {
	var kind, target uint64
	var inner []byte
	for len(data) > 0 {
		f, rest, err := nextField(data)
		if err != nil {
			return nil, err
		}
		data = rest
		if inBytes := f.number == envelopeData || f.number == envelopeHeader; f.number <= envelopeSenderRequest && inBytes != (f.kind == protowire.BytesType) {
			return nil, forbidden("malformed: field %d of an envelope", f.number)
		}
		switch f.number {
		case envelopeType:
			kind = f.value
		case envelopeData:
			inner = f.bytes
		case envelopeTarget:
			target = f.value
		case envelopeSender:
			if f.value > uint64(g.batch.senders) { // 0: none
				return nil, forbidden("a sender that the batch does not name")
			}
		case envelopeSerializer, envelopeTargetRequest, envelopeSenderRequest:
			if f.value != 0 {
				return nil, forbidden("field %d of an envelope is %d", f.number, f.value)
			}
		case envelopeHeader:
			return nil, forbidden("an envelope with a header")
		}
	}
	if target >= uint64(g.batch.targets) || kind >= uint64(len(g.batch.types)) {
		return nil, forbidden("a type or a target that the batch does not name")
	}
	return g.message(g.batch.types[kind], inner)
}

func (g *guard) message(t protoreflect.MessageType, data []byte) (proto.Message, error) {
	if len(data) > g.largest {
		return nil, forbidden("a message of %d bytes, more than %d", len(data), g.largest)
	}
	left := maxParts
	if err := countParts(t.Descriptor(), data, maxDepth, &left); err != nil {
		return nil, err
	}
	m := t.New().Interface()
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%w: malformed: %w", ErrProtocol, err)
	}
	return m, nil
}
