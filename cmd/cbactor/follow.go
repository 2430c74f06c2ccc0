package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
	"github.com/cbactor/cbactor/engine/texts"
)

// follow turns the stream of a job's sequence into events, to its end, which comes with
// that of the context it was added with, too.
func (r *runner) follow(j job, entry show.Entry, s texts.Stream) {
	var ids idList
	for {
		chunk, err := s.Recv(context.Background())
		if err != nil { // io.EOF, which only follows the final chunk
			return
		}
		e := show.Event{Entry: entry, Tokens: len(chunk.TokenIDs), Text: chunk.Text}
		if r.model.noText != nil {
			e.Text = ids.push(chunk.TokenIDs)
		}
		if chunk.Final != nil {
			e.Result = show.NewResult(*chunk.Final, j.request.Timestamps)
			j.blame(e.Result)
			if r.model.noText != nil {
				e.Result.Shown = ids.String()
			}
		}
		if e.Tokens == 0 && e.Result == nil { // of the prompt
			continue
		}
		r.out <- news{event: e}
	}
}

// idList is what a person reads of a model without a tokenizer: its token ids, as
// --prompt-ids takes them.
type idList struct{ strings.Builder }

// push adds ids and gives what that adds to the list.
func (l *idList) push(ids []int32) string {
	before := l.Len()
	for _, id := range ids {
		if l.Len() > 0 {
			l.WriteByte(',')
		}
		l.WriteString(strconv.Itoa(int(id)))
	}
	return l.String()[before:]
}
