package wire

import (
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const (
	batchSize = 32 << 10 // of memory; a larger message has a batch of its own
	batchHead = 1 + 5    // tag and length of the MessageBatch, which are known last

	envelopeRoom = 4 * (1 + 5) // of an envelope beside its data: tags, lengths, type
)

// batch is a frame that is being put together, or one that is done: a RemoteMessage with a
// MessageBatch. Each message is encoded once, to the place from which gRPC writes it.
type batch struct {
	memory *[]byte // of the pool
	data   []byte  // in it; the first batchHead bytes are filled in last
	start  int     // where the frame begins, once it is done
	types  []protoreflect.FullName
}

// newBatch has room for bytes more, behind the field that names the target.
func newBatch(target []byte, bytes int) *batch {
	memory := mem.DefaultBufferPool().Get(max(batchSize, batchHead+len(target)+bytes))
	return &batch{memory: memory, data: append((*memory)[:batchHead], target...)}
}

// encodedTarget is the field of a MessageBatch that names one.
func encodedTarget(to address) []byte {
	pid := protowire.AppendString(protowire.AppendTag(nil, pidAddress, protowire.BytesType), to.host)
	pid = protowire.AppendString(protowire.AppendTag(pid, pidName, protowire.BytesType), to.name)
	return appendMessage(nil, batchTarget, pid)
}

// roomFor is what a message with so many bytes takes at most.
func roomFor(name protoreflect.FullName, size int) int {
	return envelopeRoom + 1 + 5 + len(name) + size
}

func (b *batch) room() int { return cap(b.data) - len(b.data) }

// add appends a message whose size has just been computed: there is room for it.
func (b *batch) add(m proto.Message, name protoreflect.FullName, size int) error {
	was := len(b.data)
	kind := b.typeOf(name)
	inner := 1 + protowire.SizeBytes(size)
	if kind > 0 {
		inner += 1 + protowire.SizeVarint(uint64(kind))
	}
	b.data = protowire.AppendTag(b.data, batchEnvelope, protowire.BytesType)
	b.data = protowire.AppendVarint(b.data, uint64(inner))
	if kind > 0 {
		b.data = protowire.AppendTag(b.data, envelopeType, protowire.VarintType)
		b.data = protowire.AppendVarint(b.data, uint64(kind))
	}
	b.data = protowire.AppendTag(b.data, envelopeData, protowire.BytesType)
	b.data = protowire.AppendVarint(b.data, uint64(size))
	encoded, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(b.data, m)
	if err != nil {
		b.data = b.data[:was]
		return err
	}
	b.data = encoded
	return nil
}

// typeOf is the index of a type's name, which is written where it is new.
func (b *batch) typeOf(name protoreflect.FullName) int {
	for i, known := range b.types {
		if known == name {
			return i
		}
	}
	b.types = append(b.types, name)
	b.data = protowire.AppendTag(b.data, batchType, protowire.BytesType)
	b.data = protowire.AppendString(b.data, string(name))
	return len(b.types) - 1
}

// done writes the head. Nothing is added after.
func (b *batch) done() {
	length := uint64(len(b.data) - batchHead)
	b.start = batchHead - 1 - protowire.SizeVarint(length)
	head := protowire.AppendTag(b.data[:b.start], frameBatch, protowire.BytesType)
	protowire.AppendVarint(head, length)
}

// buffers is the frame as gRPC writes it, and gives its memory back to the pool.
func (b *batch) buffers() mem.BufferSlice {
	*b.memory = b.data
	whole := mem.NewBuffer(b.memory, mem.DefaultBufferPool())
	defer whole.Free() // the slice keeps it
	return mem.BufferSlice{whole.Slice(b.start, len(b.data))}
}

// free gives the memory of a batch back that is not written.
func (b *batch) free() { mem.DefaultBufferPool().Put(b.memory) }
