package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/story"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
	"github.com/cbactor/cbactor/internal/nearest"
	"github.com/cbactor/cbactor/internal/trace"
)

const explainHelp = `Tell from a trace, written with --trace, what happened to a request: when it was queued, why it waited, what
was computed in which step and with which weights, for whom it was given up. Times are seconds since it was
queued; those of steps are when they were handed over, so that a token comes later than its step begins. With
steps planned while others run, a request that ends with a stop may have a step planned for it already: one
position in vain.

A plan may come late to a request, because steps were handed over before or older ones are looked at first.
The places are those of max_requests_per_batch; also who is next in line has one, and who has ended until the
step in flight is done.

Without ID all requests are listed, a line each: the time in line ends where it is started, that given up
for is between being given up and coming back, and both are part of the total.

With --json the events of the request are written as they stand in the trace, or a line of JSON for each
request of the list. The trace of an engine that runs can be read, too.`

func (c *cli) explainCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "explain FILE [ID]",
		Short:   "Tell from a trace what happened to a request",
		Long:    explainHelp,
		Example: "  cbactor generate --requests in.jsonl --trace trace.jsonl\n  cbactor explain trace.jsonl line-7",
		Args:    explainArguments,
		RunE: func(_ *cobra.Command, args []string) error {
			return c.explain(args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write JSON lines")
	return cmd
}

func explainArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 1 || len(args) == 2 {
		return nil
	}
	return usageError{error: fmt.Errorf("give the file of a trace, and the id of a request or none"), command: cmd.CommandPath()}
}

func (c *cli) explain(args []string, asJSON bool) (err error) {
	file, err := os.Open(args[0])
	if err != nil {
		return badFile("the trace", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	in, err := trace.NewReader(file)
	if err != nil {
		return badFile(args[0], err)
	}
	var out string
	if len(args) == 1 {
		out, err = explainAll(in, asJSON)
	} else {
		out, err = explainOne(in, args[1], asJSON)
	}
	if err != nil {
		return badFile(args[0], err)
	}
	if in.Torn() {
		c.say("the last line of %s is not whole, and left out", args[0])
	}
	return c.print(out)
}

// explainAll lists the requests of a trace.
func explainAll(in *trace.Reader, asJSON bool) (string, error) {
	list, err := story.List(in)
	if err != nil {
		return "", err
	}
	if asJSON {
		return jsonLines(list)
	}
	if len(list) == 0 {
		return "no requests\n", nil
	}
	rows := [][]string{{"id", "ended", "prompt", "cached", "generated", "in line", "first token", "given up", "given up for", "total"}}
	for _, r := range list {
		rows = append(rows, requestRow(r))
	}
	return columns(words.Count(len(list), "request"), rows), nil
}

// requestRow is the line of a request. What is not known before its end is a dash.
func requestRow(r *story.Request) []string {
	reason, generated, first := "open", "-", "-"
	if r.Reason != "" {
		reason, generated = story.Printable(r.Reason), fmt.Sprint(r.Generated)
	}
	if r.First > 0 {
		first = story.Seconds(r.First)
	}
	return []string{story.Printable(r.ID), reason, fmt.Sprint(r.Prompt), fmt.Sprint(r.Cached), generated,
		story.Seconds(r.InLine), first, words.Count(r.Preemptions, "time"), story.Seconds(r.GivenUp), story.Seconds(r.Total)}
}

// explainOne tells the story of a request.
func explainOne(in *trace.Reader, id string, asJSON bool) (string, error) {
	stories, ids, err := story.Read(in, id)
	if err != nil {
		return "", err
	}
	if len(stories) == 0 {
		return "", unknownRequest(id, ids)
	}
	var b strings.Builder
	for i, s := range stories {
		if asJSON {
			own := slices.DeleteFunc(s.Events, func(e trace.Event) bool { return e.ID == "" })
			lines, err := jsonLines(own)
			if err != nil {
				return "", err
			}
			b.WriteString(lines)
			continue
		}
		b.WriteString(story.Printable(id))
		if len(stories) > 1 {
			fmt.Fprintf(&b, ", request %d of %d with this id", i+1, len(stories))
		}
		b.WriteString("\n" + strings.Join(s.Tell(), "\n") + "\n")
	}
	return b.String(), nil
}

// Bounds of what is looked through for a misspelt id, and of what is offered.
const (
	longestName = 200
	mostNames   = 3
)

// unknownRequest offers the ids that are most like the one asked for.
func unknownRequest(id string, ids []string) error {
	ids = slices.DeleteFunc(ids, func(s string) bool { return len(s) > longestName })
	var offers []string
	for len(id) <= longestName && len(ids) > 0 && len(offers) < mostNames {
		best := nearest.Close(id, ids)
		if best == "" {
			break
		}
		offers = append(offers, story.Printable(best))
		ids = slices.DeleteFunc(ids, func(s string) bool { return s == best })
	}
	if len(offers) == 0 {
		return badUsage("it has no request %q: without an id all are listed", id)
	}
	return badUsage("it has no request %q, the nearest are %s: without an id all are listed", id, strings.Join(offers, ", "))
}

// jsonLines writes each of list as a line of JSON.
func jsonLines[T any](list []T) (string, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, v := range list {
		if err := enc.Encode(v); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}
