package main

import (
	"errors"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
)

// Lines of a live block: at most maxPlaces for requests, and some of the terminal
// are left to what is above.
const (
	maxPlaces = 16
	maxHeight = 4 // of a place
	leftAlone = 4

	leastWidth, leastLines = 40, 12 // of a terminal that a block is drawn on
)

// sinks are where a run is shown: the results on standard output, in the file of
// --resume, or both, and how far it is on standard error, in a live block where one
// can be drawn, unless the results themselves appear there as they come.
func (c *cli) sinks(json bool, in *input, limit int, tally *show.Tally) []show.Sink {
	outTerminal, errTerminal := isTerminal(c.stdout), isTerminal(c.stderr)
	text := in.out == nil && !json
	inSight := outTerminal && errTerminal && (json || text && in.single())
	live := !inSight && canDraw(c.stderr)
	var sinks []show.Sink
	if in.out != nil {
		sinks = append(sinks, saved{show.NewJSON(in.out)})
	}
	if json && (in.out == nil || !sameFile(in.out, c.stdout)) {
		sinks = append(sinks, show.NewJSON(c.stdout))
	}
	if text {
		var w io.Writer = c.stdout
		if outTerminal && live { // one terminal: above the block
			w = c.console
		}
		sinks = append(sinks, show.NewText(w, show.TextOptions{Stream: in.single(), Ordered: in.prompts != nil, Terminal: outTerminal}))
	}
	switch {
	case live:
		places, height := c.places(min(limit, in.most()))
		sinks = append(sinks, show.NewLive(c.stderr, c.console, tally, places, height))
	case !inSight:
		sinks = append(sinks, show.NewLines(c.console, tally))
	}
	return sinks
}

// saved is the file of --resume. A request whose id has the result of another prompt
// is kept out of it, as that result would count no more.
type saved struct{ show.Sink }

// Event implements show.Sink.
func (s saved) Event(e show.Event) error {
	if e.Result != nil && errors.Is(e.Result.Err, requests.ErrOtherPrompt) {
		return nil
	}
	return s.Sink.Event(e)
}

// places is how many requests a live block shows, of the most that run, and how
// many lines of each.
func (c *cli) places(most int) (places, height int) {
	_, lines, err := term.GetSize(int(c.stderr.Fd()))
	if err != nil {
		lines = 24
	}
	room := max(1, lines-leftAlone)
	places = max(1, min(most, maxPlaces, room))
	return places, max(1, min(maxHeight, room/places))
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// canDraw says whether a file is a terminal with room for a live block, on which the
// cursor can be moved.
func canDraw(f *os.File) bool {
	if !isTerminal(f) || os.Getenv("TERM") == "dumb" {
		return false
	}
	width, lines, err := term.GetSize(int(f.Fd()))
	return err != nil || width >= leastWidth && lines >= leastLines
}
