package main

import (
	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/internal/obs"
)

// logFlags say what a server logs, and how it is written.
type logFlags struct{ level, format string }

// logLevels are what --log-level takes, as obs.New counts them.
var logLevels = map[string]int{"warn": 0, "info": 1, "debug": 2}

// logFormats are what --log-format takes: whether it is for a person to read; auto: on a terminal.
var logFormats = map[string]bool{"auto": false, "json": false, "text": true}

func (f *logFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.level, "log-level", "", "log to standard error: warn, info, which has a line for each request of HTTP, or debug (default: as -v says)")
	fs.StringVar(&f.format, "log-format", "auto", "how it is written: json, a line each, text, or auto, which is text on a terminal alone")
}

// check refuses what has no effect beside -v, given so often.
func (f *logFlags) check(verbose int) error {
	_, level := logLevels[f.level]
	_, format := logFormats[f.format]
	switch {
	case f.level != "" && !level:
		return badUsage("--log-level is %q, must be warn, info or debug", f.level)
	case !format:
		return badUsage("--log-format is %q, must be json, text or auto", f.format)
	case f.level != "" && verbose > 0:
		return badUsage("--log-level and -v say both what is logged: give one")
	case f.level == "" && verbose == 0 && f.format != "auto":
		return badUsage("--log-format is for what is logged: give --log-level, too")
	}
	return nil
}

// logs says whether anything is logged.
func (c *cli) logs() bool { return c.verbose > 0 || c.logging.level != "" }

// log is where the command and its engine log to,
// unless it is not asked to: what a user must know, it says itself.
func (c *cli) log() zerolog.Logger {
	if !c.logs() {
		return zerolog.Nop()
	}
	verbose := c.verbose
	if c.logging.level != "" {
		verbose = logLevels[c.logging.level]
	}
	return obs.New(c.console, verbose, logFormats[c.logging.format] || c.logging.format != "json" && isTerminal(c.stderr))
}
