package main

import (
	"os"

	"golang.org/x/term"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/show"
)

// Lines of a live block: at most maxPlaces for requests, and some of the terminal
// are left to what is above.
const (
	maxPlaces = 16
	maxHeight = 4 // of a place
	leftAlone = 4
)

// sinks are where a run is shown: the results on standard output or in the file
// of --resume, and how far it is on standard error, in a live block if that is a
// terminal, unless the results themselves appear there as they come.
func (c *cli) sinks(json bool, in *input, limit int, tally *show.Tally) []show.Sink {
	outTerminal, errTerminal := isTerminal(c.stdout), isTerminal(c.stderr)
	live := errTerminal
	var results show.Sink
	switch {
	case in.out != nil:
		results = show.NewJSON(in.out)
	case json:
		results = show.NewJSON(c.stdout)
		live = errTerminal && !outTerminal
	default:
		o := show.TextOptions{Stream: in.single(), Ordered: in.prompts != nil, Terminal: outTerminal}
		live = errTerminal && !(outTerminal && o.Stream)
		if outTerminal && live { // one terminal: above the block
			results = show.NewText(c.console, o)
		} else {
			results = show.NewText(c.stdout, o)
		}
	}
	switch {
	case live:
		places, height := c.places(min(limit, in.most()))
		return []show.Sink{results, show.NewLive(c.stderr, c.console, tally, places, height)}
	case errTerminal:
		return []show.Sink{results}
	}
	return []show.Sink{results, show.NewLines(c.console, tally)}
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
