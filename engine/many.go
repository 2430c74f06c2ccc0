package engine

import (
	"context"
	"fmt"
	"slices"
)

// AddRequests submits requests whose results are kept until somebody reads them, by
// Result, NextResult, Results or ResultsOf; one with a Handler only if that panics. It
// answers their ids in the order given, and of a request with N above 1 the first.
// Where the cache is shared they are queued in the order of their prompts, so that
// equal beginnings come together. It waits where the queue is full, as long as ctx
// allows, and the requests live as long as ctx.
//
// An error names the request that it is about. If any of them can never be served, or
// has an id that is in use, nothing of them is queued, and there are no ids. If the
// engine stops meanwhile or ctx ends, those that were queued before go their way, and
// the ids of the others are "".
func (f *Front) AddRequests(ctx context.Context, requests []Request) ([]string, error) {
	if ctx == nil {
		return nil, errNoContext
	}
	entries, at, err := f.enterAll(requests)
	if err != nil {
		return nil, wrongOf(requests, at, err)
	}
	ids, order := make([]string, len(entries)), f.order(requests)
	sent, wrong := 0, -1
	for k, i := range order {
		for ; err == nil && sent < min(k+ahead, len(order)); sent++ {
			if err = f.submit(ctx, entries[order[sent]], true); err != nil {
				wrong = order[sent]
				break
			}
		}
		switch {
		case k < sent:
			if refused := f.await(ctx, entries[i]); refused == nil {
				ids[i] = entries[i].records[0].id
			} else if err == nil {
				err, wrong = refused, i
			}
		case i != wrong: // it was not submitted
			f.requests.withdraw(entries[i].records, err)
		}
	}
	if err != nil {
		return ids, wrongOf(requests, wrong, err)
	}
	return ids, nil
}

// ahead is how many requests of AddRequests are submitted before the first of them is accepted: where
// the place is far away an answer takes a while.
const ahead = 64

// wrongOf says which request an error is about.
func wrongOf(requests []Request, at int, err error) error {
	if requests[at].ID == "" {
		return fmt.Errorf("request %d of %d: %w", at+1, len(requests), err)
	}
	return fmt.Errorf("request %d of %d (%q): %w", at+1, len(requests), requests[at].ID, err)
}

// enterAll enters all requests or none. With an error it tells of which request.
func (f *Front) enterAll(requests []Request) (entries []*entry, at int, err error) {
	for i, r := range requests {
		n, err := f.enter(Order{Request: r}, f.options.Names)
		if err == nil {
			entries = append(entries, n)
			for _, rec := range n.records {
				rec.unread = true
			}
			if r.Handler == nil {
				err = f.requests.keepAll(n.records)
			}
		}
		if err != nil {
			for _, n := range entries {
				f.requests.withdraw(n.records, err)
			}
			return nil, i, err
		}
	}
	return entries, 0, nil
}

// order is the order in which requests are queued.
func (f *Front) order(requests []Request) []int {
	order := make([]int, len(requests))
	for i := range order {
		order[i] = i
	}
	if f.options.Sharing {
		slices.SortStableFunc(order, func(a, b int) int { return slices.Compare(requests[a].PromptIDs, requests[b].PromptIDs) })
	}
	return order
}
