package engine

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"testing"

	"github.com/cbactor/cbactor/sampling"
	"github.com/cbactor/cbactor/weights"
)

// relay is a Place that has another engine compute, as one beyond a network does.
type relay struct {
	engine *Engine
	outs   chan Output // of the engine
}

func (r *relay) Check(*Order) error { return nil }

func (r *relay) Prepare(o *Order) (Submission, error) {
	if o.Stop != nil {
		return nil, ErrParams
	}
	return &relayed{relay: r, order: *o}, nil
}

func (r *relay) Cancel(id string) { r.engine.Cancel("far-" + id) }

func (r *relay) Rest(ctx context.Context, changed <-chan struct{}) (bool, error) {
	return local{r.engine}.Rest(ctx, changed)
}

type relayed struct {
	relay *relay
	order Order
}

func (s *relayed) Submit(context.Context) (<-chan error, <-chan struct{}, error) {
	r := s.order.Request
	r.ID = "far-" + r.ID
	reply := make(chan error, 1)
	first, err := s.relay.engine.AddRequest(context.Background(), r)
	if err != nil {
		return nil, nil, err
	}
	for i, from := range append([]*Stream{first}, first.Children()...) {
		to := s.order.Sequences[i]
		to.Prompt(r.PromptIDs)
		go func() {
			for {
				c, err := from.Recv(context.Background())
				if errors.Is(err, io.EOF) {
					return
				}
				to.Take(c)
				if c.Final != nil {
					out := *c.Final
					out.RequestID = to.ID()
					s.relay.outs <- out
				}
			}
		}()
	}
	reply <- nil
	return reply, nil, nil
}

func (s *relayed) Lost() error { return ErrClosed }

func (s *relayed) Cancel(i int) { s.relay.Cancel(s.order.Sequences[i].ID()) }

// What an engine elsewhere has computed reads as if it were here, in every way of
// reading, with the versions of the weights whatever became of them meanwhile.
func TestAFrontTellsWhatItsPlaceTells(t *testing.T) {
	e := spawnTiny(t, Config{})
	r := &relay{engine: e, outs: make(chan Output, 16)}
	f, back := NewFront(r, FrontOptions{Names: "n-"})
	tell := sampling.Params{Tell: sampling.Tell{Logprobs: true, Top: 2, Prompt: true}, Temperature: 1}

	w := newTrained(t, 1)
	u := w.begin(t, e, "v2", KVKeep)
	if err := w.send(u); err != nil {
		t.Fatal(err)
	}
	s, err := f.AddRequest(t.Context(), Request{PromptIDs: text(12), MaxNewTokens: 900, IgnoreEOS: true, N: 2, Sampling: tell, Timestamps: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Recv(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := pause(t, e, PauseOptions{}) // neither ends before the commit
	if err := u.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	release(t, h)
	outs := []Output{s.Wait(t.Context()), s.Children()[0].Wait(t.Context())}
	if n := len(outs[0].WeightVersions); n != 2 || len(outs[0].KVVersions) != 2 {
		t.Errorf("%d versions sampled: the test shows nothing: %v, %v", n, outs[0].WeightVersions, outs[0].KVVersions)
	}
	for range outs {
		far := <-r.outs
		if i := slices.IndexFunc(outs, func(o Output) bool { return o.RequestID == far.RequestID }); i < 0 || !reflect.DeepEqual(outs[i], far) {
			t.Errorf("here:\n%+v\nthere:\n%+v", outs, far)
		}
	}

	names, err := f.AddRequests(t.Context(), []Request{{PromptIDs: text(3), MaxNewTokens: 2}, {ID: "b", PromptIDs: text(3), MaxNewTokens: 2}})
	if err != nil || !slices.Equal(names, []string{"n-2", "b"}) {
		t.Fatalf("%v, %v", names, err)
	}
	if out, err := f.Result(t.Context(), "b"); err != nil || len(out.TokenIDs) != 2 || out.WeightVersions[0].Version != "v2" {
		t.Errorf("%+v, %v", out, err)
	}
	for out, err := range f.Results(t.Context()) {
		if err != nil || out.RequestID != "n-2" {
			t.Errorf("%+v, %v", out, err)
		}
	}
	if _, err := f.AddRequest(t.Context(), Request{PromptIDs: text(3), Stop: func() Matcher { return nil }}); !errors.Is(err, ErrParams) {
		t.Errorf("what the place refuses: %v", err)
	}
	if err := e.Stop(t.Context(), StopOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.NextResult(t.Context()); err != io.EOF {
		t.Errorf("at rest: %v", err)
	}
	back.Close()
	back.Forget()
	if _, err := f.NextResult(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// Checksum is of the weights that serve, whichever these are.
func TestChecksum(t *testing.T) {
	e := spawnTiny(t, Config{})
	v2 := newTrained(t, 1)
	_, first, err := e.Checksum(t.Context(), weights.XXH3_128)
	if err != nil || first == v2.set.Digest(weights.XXH3_128) {
		t.Fatalf("%s, %v", first, err)
	}
	v2.update(t, e, "v2", KVKeep)
	if version, sum, err := e.Checksum(t.Context(), weights.XXH3_128); err != nil || version != "v2" || sum != v2.set.Digest(weights.XXH3_128) {
		t.Errorf("%s of %q, %v", sum, version, err)
	}
	for _, kind := range []weights.DigestKind{weights.NoDigest, weights.XXH3_128 + 1} {
		if _, _, err := e.Checksum(t.Context(), kind); !errors.Is(err, ErrParams) {
			t.Errorf("kind %d: %v", kind, err)
		}
	}
	if err := errors.Join(e.Rollback(t.Context(), FirstVersion, KVKeep), e.Close()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Checksum(t.Context(), weights.SHA256); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
