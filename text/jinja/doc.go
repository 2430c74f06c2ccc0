// Package jinja renders Jinja templates as jinja2 3.1.6 does when Hugging Face
// Transformers sets it up for chat templates: an immutable sandbox, trim_blocks
// and lstrip_blocks on, break and continue, a tojson that escapes no HTML,
// raise_exception, strftime_now and {% generation %}.
//
// Purpose: a template is a program of a stranger, and what it is given comes from
// another one. [Parse] makes a [Template] of its source, [Template.Render] runs it.
// The language is Python's where jinja2 leans on Python: what raises there raises
// here ([ErrRaised], with the name of Python's exception), numbers have any size,
// strings are indexed by code point, values print as Python prints them. What is
// not there is refused by its name with [ErrUnsupported]: templates that load others
// (include, import, extends), filters whose result is not the same each time
// (random) or that have no place in a prompt (urlize). Nothing is guessed.
//
// Limits: every rendering counts its steps, the bytes of all values that it makes
// and writes, and how deep it nests, and stops at [Limits] or when its context ends,
// with [ErrLimit]. What an operation will take is counted before it is taken. A
// source has at most [MaxSource] bytes. No rendering starts a goroutine.
//
// Text from outside: a [Text] knows which of its bytes came from the request
// ([Text.Foreign]). Every operation on strings keeps this exactly: a slice of a
// message is foreign, what a template writes beside it is not. Whoever turns the
// result into tokens can so tell a control token of the template from one that
// somebody wrote into a message.
//
// Ownership and concurrency: a Template is read-only and may be rendered by many
// goroutines at once. Values given to a rendering are read only, and may be shared
// by several. The package has no state.
package jinja
