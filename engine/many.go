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
	ids := make([]string, len(entries))
	order := f.order(requests)
	for k, i := range order {
		if err := f.admit(ctx, entries[i], true); err != nil {
			for _, other := range order[k+1:] {
				f.requests.withdraw(entries[other].records, err)
			}
			return ids, wrongOf(requests, i, err)
		}
		ids[i] = entries[i].records[0].id
	}
	return ids, nil
}

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
