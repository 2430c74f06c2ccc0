package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// field is one of an encoded message.
type field struct {
	number protowire.Number
	kind   protowire.Type
	bytes  []byte // of a BytesType, in the message's memory
	value  uint64 // of the others
}

// nextField splits the first field from an encoded message that is not empty. No
// memory is taken.
func nextField(data []byte) (f field, rest []byte, err error) {
	number, kind, n := protowire.ConsumeTag(data)
	if n < 0 {
		return f, nil, forbidden("malformed: %w", protowire.ParseError(n))
	}
	f, data = field{number: number, kind: kind}, data[n:]
	switch kind {
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(data)
	case protowire.VarintType:
		f.value, n = protowire.ConsumeVarint(data)
	case protowire.Fixed32Type:
		var v uint32
		v, n = protowire.ConsumeFixed32(data)
		f.value = uint64(v)
	case protowire.Fixed64Type:
		f.value, n = protowire.ConsumeFixed64(data)
	default:
		return f, nil, forbidden("malformed: a group")
	}
	if n < 0 {
		return f, nil, forbidden("malformed: %w", protowire.ParseError(n))
	}
	return f, data[n:], nil
}

const (
	maxParts = 1 << 16 // of a message: messages and strings in it
	maxDepth = 32      // of messages in each other
)

// Sendable tells whether the other side's guard lets a message of so many bytes at most through, and
// why not: ErrProtocol. It encodes the message.
func Sendable(m proto.Message, largest int) error {
	data, err := proto.Marshal(m)
	if err != nil {
		return fmt.Errorf("%w: it cannot be encoded: %w", ErrProtocol, err)
	}
	if len(data) > largest {
		return forbidden("it takes %d bytes, there may be %d", len(data), largest)
	}
	left := maxParts
	return countParts(m.ProtoReflect().Descriptor(), data, maxDepth, &left)
}

// countParts takes from left what an encoded message has in parts, each of which takes
// memory that its few bytes on the wire do not show.
func countParts(d protoreflect.MessageDescriptor, data []byte, depth int, left *int) error {
	if depth == 0 {
		return forbidden("a %s has parts in each other deeper than %d", d.Name(), maxDepth)
	}
	for len(data) > 0 {
		f, rest, err := nextField(data)
		if err != nil {
			return err
		}
		data = rest
		if f.kind != protowire.BytesType {
			continue
		}
		known := d.Fields().ByNumber(f.number)
		if known == nil {
			continue // is not kept
		}
		switch known.Kind() {
		case protoreflect.MessageKind, protoreflect.StringKind, protoreflect.BytesKind:
			if *left--; *left < 0 {
				return forbidden("a %s has more than %d parts", d.Name(), maxParts)
			}
		}
		if known.Kind() == protoreflect.MessageKind {
			if err := countParts(known.Message(), f.bytes, depth-1, left); err != nil {
				return err
			}
		}
	}
	return nil
}
