package convert

import (
	"math"
	"time"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/engine/texts"
	"github.com/cbactor/cbactor/messages"
)

// Request is what asks for tokens. A Processor, and a Stop of the engine's kind, are
// ErrNotRemote. Handler and Streaming are not told: they are the caller's own.
func Request(r texts.Request) (*messages.Request, error) {
	if r.Sampling.Processor != nil || r.Request.Stop != nil {
		return nil, ErrNotRemote
	}
	if err := r.Check(); err != nil {
		return nil, err
	}
	if err := allPrinted(&r); err != nil {
		return nil, err
	}
	m := &messages.Request{
		Id: r.ID, Sampling: Sampling(r.Sampling), Seed: r.Seed, Eos: IDs(r.EOS), IgnoreEos: r.IgnoreEOS,
		Score: r.Score, Stop: r.Stop, KeepStop: r.KeepStop, StopIds: r.StopIDs, BadWords: r.BadWords,
		DeadlineNs: int64(r.Deadline), FirstTokenNs: int64(r.FirstToken), Timestamps: r.Timestamps,
		Adapter: r.Adapter, Salt: r.Salt, Kv: KV(r.KV), MinVersion: r.MinVersion, Private: r.Private, Wait: r.Wait,
		Grammar: language(r.Grammar),
	}
	var err error
	for _, n := range []struct {
		name string
		to   *int32
		from int
	}{{"max_new_tokens", &m.MaxNewTokens, r.MaxNewTokens}, {"n", &m.N, r.N}, {"priority", &m.Priority, r.Priority}} {
		if *n.to, err = small(n.name, n.from); err != nil {
			return nil, err
		}
	}
	if s := r.MaxStaleness; s != nil {
		if *s < 0 || *s > math.MaxUint32 {
			return nil, refused("max_staleness is %d, must be from 0 on and fit 32 bits", *s)
		}
		m.MaxStaleness = new(uint32(*s))
	}
	begin(m, &r)
	return m, nil
}

// allPrinted refuses texts that no message can have, of those that Check does not see.
func allPrinted(r *texts.Request) error {
	list := []struct{ name, s string }{{"id", r.ID}, {"adapter", r.Adapter}, {"salt", r.Salt}, {"min_version", r.MinVersion}}
	for _, s := range r.Stop {
		list = append(list, struct{ name, s string }{"stop", s})
	}
	for _, f := range list {
		if err := printed(f.name, f.s); err != nil {
			return err
		}
	}
	return nil
}

// begin puts what a request begins with.
func begin(m *messages.Request, r *texts.Request) {
	switch p := r.Prompt; {
	case p.Text != nil:
		m.Input = &messages.Request_Prompt{Prompt: *p.Text}
	case p.Raw != nil:
		m.Input = &messages.Request_Raw{Raw: *p.Raw}
	case p.Messages != nil:
		m.Input = &messages.Request_Messages{Messages: chat(p)}
	case p.IDs != nil:
		m.Input = &messages.Request_PromptIds{PromptIds: IDs(p.IDs)}
	case r.PromptIDs != nil:
		m.Input = &messages.Request_PromptIds{PromptIds: IDs(r.PromptIDs)}
	}
}

// RequestOf reads it: ids are in PromptIDs, another prompt in Prompt. What a field may be
// is the engine's to check, where the message has room for more than the engine's field.
func RequestOf(m *messages.Request) (texts.Request, error) {
	r := texts.Request{
		Request: engine.Request{
			ID: m.GetId(), MaxNewTokens: int(m.GetMaxNewTokens()), Sampling: SamplingOf(m.GetSampling()), EOS: IDsOf(m.GetEos()), IgnoreEOS: m.GetIgnoreEos(),
			N: int(m.GetN()), Priority: int(m.GetPriority()), Score: m.GetScore(),
			Deadline: time.Duration(m.GetDeadlineNs()), FirstToken: time.Duration(m.GetFirstTokenNs()), Timestamps: m.GetTimestamps(),
			Adapter: m.GetAdapter(), Salt: m.GetSalt(), MinVersion: m.GetMinVersion(), Private: m.GetPrivate(), Wait: m.GetWait(),
		},
		Stop: m.GetStop(), KeepStop: m.GetKeepStop(), StopIDs: m.GetStopIds(), BadWords: m.GetBadWords(),
		Grammar: languageOf(m.GetGrammar()),
	}
	if m != nil && m.Seed != nil {
		r.Seed = new(m.GetSeed())
	}
	if m != nil && m.MaxStaleness != nil {
		r.MaxStaleness = new(int(m.GetMaxStaleness()))
	}
	switch in := m.GetInput().(type) {
	case *messages.Request_PromptIds:
		r.PromptIDs = IDsOf(in.PromptIds)
	case *messages.Request_Prompt:
		r.Prompt.Text = &in.Prompt
	case *messages.Request_Raw:
		r.Prompt.Raw = &in.Raw
	case *messages.Request_Messages:
		r.Prompt = chatOf(in.Messages)
	}
	var err error
	if r.KV, err = KVOf(m.GetKv()); err != nil {
		return r, err
	}
	return r, r.Check()
}
