package executor_test

import (
	"testing"

	"github.com/cbactor/cbactor/executor"
)

// The ends of a copy are where its kind says: group 0 has 10 blocks and 6 on the host.
func TestCheckCopy(t *testing.T) {
	const fork, out, in = executor.CopyFork, executor.CopyOut, executor.CopyIn
	for _, c := range []executor.Copy{
		{Kind: fork, From: 0, To: 9}, {Kind: fork, Group: 1, From: 9, To: 0},
		{Kind: out, From: 9, To: 5}, {Kind: out, From: 5, To: 5},
		{Kind: in, From: 5, To: 9}, {Kind: in, From: 0, To: 0},
	} {
		newCheckRun(t).good(executor.Batch{Copies: []executor.Copy{c}})
	}
	for _, c := range []executor.Copy{
		{Kind: fork, From: 3, To: 3}, {Kind: fork, From: 10, To: 0}, {Kind: fork, From: 0, To: 10}, {Kind: fork, From: -1, To: 0},
		{Kind: out, From: 10, To: 0}, {Kind: out, From: 0, To: 6}, {Kind: out, From: 0, To: -1},
		{Kind: in, From: 6, To: 0}, {Kind: in, From: 0, To: 10}, {Kind: in, From: -1, To: 0},
		{Kind: out, Group: 2}, {Kind: in, Group: -1}, {Kind: in + 1, From: 0, To: 1},
	} {
		run := newCheckRun(t)
		run.bad(executor.Batch{Copies: []executor.Copy{{Kind: out}, c}}, executor.ErrContract)
		if t.Failed() {
			t.Fatalf("accepted: %+v", c)
		}
	}
}
