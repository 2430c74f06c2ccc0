package gateway

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/cbactor/cbactor/engine/internal/convert"
	"github.com/cbactor/cbactor/messages"
)

// usage is what calls take that are under way.
type usage struct {
	calls  int
	frees  int // calls that free something, which are no others
	bytes  int
	chunks int // calls with data
	answer int // bytes that the answers may have
}

func (u *usage) add(o usage) {
	u.calls, u.frees, u.bytes, u.chunks, u.answer = u.calls+o.calls, u.frees+o.frees, u.bytes+o.bytes, u.chunks+o.chunks, u.answer+o.answer
}

func (u *usage) take(o usage) { u.add(usage{-o.calls, -o.frees, -o.bytes, -o.chunks, -o.answer}) }

const (
	briefBytes = 4 << 10  // of a call that frees something, at most
	plainBytes = 2200     // of an answer that has no more than an error, at most
	wordBytes  = 256      // of the text of an id, at most
	tensorHead = 1 << 10  // of a part of a tensor, beside its data
	listBytes  = 16 << 10 // of a list without a bound of its own, about
	nameBytes  = 32       // of a sequence, beside its request's id
)

// costOf is what a call takes while it is under way. A goodbye takes nothing.
func (g *guest) costOf(m *messages.Call) usage {
	size := proto.Size(m)
	if frees(m) && size <= briefBytes {
		return usage{frees: 1}
	}
	if m.GetGoodbye() != nil {
		return usage{}
	}
	u := usage{calls: 1, bytes: size, answer: g.answerOf(m, size)}
	if data := dataOf(m); data != nil {
		u.chunks, u.bytes = 1, len(data)
	}
	if m.GetReadTensor() != nil {
		u.chunks = 1
	}
	return u
}

// frees tells whether a call lets go of what the guest has, or keeps it from being lost: that must
// not wait for room.
func frees(m *messages.Call) bool {
	switch m.GetWhat().(type) {
	case *messages.Call_Release, *messages.Call_Renew, *messages.Call_Cancel, *messages.Call_AbortUpdate:
		return true
	}
	return false
}

// dataOf are the bytes of weights or files that a call brings.
func dataOf(m *messages.Call) []byte {
	switch m.GetWhat().(type) {
	case *messages.Call_PutChunk:
		return m.GetPutChunk().GetData()
	case *messages.Call_WriteTensor:
		return m.GetWriteTensor().GetData()
	case *messages.Call_AdapterFile:
		return m.GetAdapterFile().GetData()
	}
	return nil
}

// answerOf is how large the answer to a call of some size may be, at most.
func (g *guest) answerOf(m *messages.Call, size int) int {
	n := 0
	switch m.GetWhat().(type) {
	case *messages.Call_ReadTensor:
		n = int(min(int64(m.GetReadTensor().GetBytes()), int64(g.options.Limits.Chunk))) + tensorHead
	case *messages.Call_Logits:
		n = 4 * g.vocab
	case *messages.Call_Decode:
		n = wordBytes * len(m.GetDecode().GetIds())
	case *messages.Call_HeldNames:
		n = maxMessage
	case *messages.Call_Missing, *messages.Call_Status:
		n = listBytes
	case *messages.Call_Encode:
		n = g.idsOf(size)
	case *messages.Call_Generate:
		r := m.GetGenerate().GetRequest()
		n = min(max(int(r.GetN()), 1), maxSequences) * (nameBytes + len(r.GetId()))
		if r.GetPromptIds() == nil { // they are told
			n += min(g.idsOf(size), idBytes*g.context)
		}
	}
	return plainBytes + min(n, maxMessage)
}

// idsOf is how large the ids of text with so many bytes may be: each stands for one, at least.
func (g *guest) idsOf(text int) int { return text * protowire.SizeVarint(uint64(g.vocab)) }

// admit refuses a call for which there is no room. It was not obeyed, and is not remembered.
func (g *guest) admit(u usage) error {
	l := g.options.Limits
	kept := len(g.calls) - g.asked.calls - g.asked.frees
	switch {
	case u == usage{}:
		return nil
	case g.asked.frees+u.frees > l.Calls, kept > 4*l.Calls:
		return fmt.Errorf("%w: %d calls are under way, and %d answers are kept: say which ones have arrived", convert.ErrLimit, g.asked.frees, kept)
	case u.frees > 0:
		return nil
	case u.chunks > 0 && u.bytes > l.Chunk:
		return fmt.Errorf("%w: %d bytes of data in a call, there may be %d", convert.ErrLimit, u.bytes, l.Chunk)
	case g.asked.calls >= l.Calls:
		return fmt.Errorf("%w: %d calls are under way: wait for an answer", convert.ErrLimit, g.asked.calls)
	case g.asked.chunks+u.chunks > l.Chunks:
		return fmt.Errorf("%w: %d calls with data are under way: wait for an answer", convert.ErrLimit, g.asked.chunks)
	case g.asked.bytes+u.bytes > l.CallBytes:
		return fmt.Errorf("%w: calls under way have %d bytes: wait for an answer", convert.ErrLimit, g.asked.bytes)
	case g.answers+g.asked.answer+u.answer > l.Answers, kept > 2*l.Calls:
		return fmt.Errorf("%w: %d answers of %d bytes are kept, and %d bytes may come: wait for them, and say which ones have arrived", convert.ErrLimit, kept, g.answers, g.asked.answer)
	}
	return g.weigh()
}
