package convert

import (
	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/messages"
)

// News is a chunk of a stream; its number, and what is told of the prompt, are for the
// caller to put.
func News(c texts.Chunk) *messages.News {
	m := &messages.News{Offset: uint32(c.Offset), Ids: c.TokenIDs, Drawn: Drawn(c.Logprobs), Text: c.Text,
		WeightVersions: Spans(c.WeightVersions), KvVersions: Spans(c.KVVersions)}
	if c.Final != nil {
		m.End = end(c.Final)
	}
	return m
}

// NewsOf reads it. Of a Final what came before is missing: prompt, tokens, what is told of
// them, and text.
func NewsOf(m *messages.News) (c texts.Chunk, err error) {
	c.TokenIDs, c.Text = m.GetIds(), m.GetText()
	if uint64(m.GetOffset())+uint64(len(c.TokenIDs)) > maxTokens {
		return c, malformed("%d tokens from place %d on", len(c.TokenIDs), m.GetOffset())
	}
	c.Offset = int(m.GetOffset())
	if c.Logprobs, err = DrawnOf(m.GetDrawn()); err != nil {
		return c, err
	}
	if n := len(c.Logprobs); n != 0 && n != len(c.TokenIDs) {
		return c, malformed("%d tokens with %d log-probabilities", len(c.TokenIDs), n)
	}
	if c.WeightVersions, err = SpansOf(m.GetWeightVersions()); err != nil {
		return c, err
	}
	if c.KVVersions, err = SpansOf(m.GetKvVersions()); err != nil {
		return c, err
	}
	if m.GetEnd() == nil {
		return c, nil
	}
	c.Final, err = endOf(m.GetEnd(), c.Offset+len(c.TokenIDs))
	return c, err
}

// end is what became of a sequence.
func end(out *texts.Output) *messages.End {
	m := &messages.End{
		Reason: string(out.FinishReason), Error: Error(out.Err), Matched: out.Matched, Stopped: out.Stopped,
		PromptTokens: uint32(out.Usage.PromptTokens), CachedTokens: uint32(out.Usage.CachedTokens), Preemptions: uint32(out.Preemptions),
		WeightVersions: Spans(out.WeightVersions), KvVersions: Spans(out.KVVersions),
	}
	t := out.Timing
	m.CreatedNs, m.StartedNs, m.FirstNs, m.EndedNs = nanos(t.Created), nanos(t.Started), nanos(t.First), nanos(t.Ended)
	for _, at := range t.Tokens {
		m.TokenNs = append(m.TokenNs, nanos(at))
	}
	return m
}

// endOf reads it, of a sequence with n tokens.
func endOf(m *messages.End, n int) (out *texts.Output, err error) {
	out = new(texts.Output)
	out.FinishReason, out.Err, out.Matched, out.Stopped = engine.FinishReason(m.GetReason()), ErrorOf(m.GetError()), m.GetMatched(), m.GetStopped()
	switch out.FinishReason {
	case engine.FinishStop, engine.FinishLength, engine.FinishCancelled, engine.FinishDeadline, engine.FinishAborted, engine.FinishStale, engine.FinishFailed:
	default:
		return nil, malformed("the reason of an end is %.40q", m.GetReason())
	}
	for _, count := range []uint32{m.GetPromptTokens(), m.GetCachedTokens(), m.GetPreemptions()} {
		if count > maxTokens {
			return nil, malformed("an end counts %d", count)
		}
	}
	out.Usage = engine.Usage{PromptTokens: int(m.GetPromptTokens()), CompletionTokens: n, CachedTokens: int(m.GetCachedTokens())}
	out.Preemptions = int(m.GetPreemptions())
	if out.WeightVersions, err = SpansOf(m.GetWeightVersions()); err != nil {
		return nil, err
	}
	if out.KVVersions, err = SpansOf(m.GetKvVersions()); err != nil {
		return nil, err
	}
	out.Timing = engine.Timing{Created: moment(m.GetCreatedNs()), Started: moment(m.GetStartedNs()), First: moment(m.GetFirstNs()), Ended: moment(m.GetEndedNs())}
	if len(m.GetTokenNs()) > n {
		return nil, malformed("%d moments of %d tokens", len(m.GetTokenNs()), n)
	}
	for _, ns := range m.GetTokenNs() {
		out.Timing.Tokens = append(out.Timing.Tokens, moment(ns))
	}
	return out, nil
}
