package jinja

import (
	"fmt"
	"strings"
	"time"
)

// strftime is the time of the rendering by a format of C, in its own locale.
func (r *rendering) strftime(format Text) Value {
	b := builder{run: r}
	for at := 0; at < len(format.s); {
		i := strings.IndexByte(format.s[at:], '%')
		if i < 0 || at+i+1 == len(format.s) {
			b.addPart(format, at, len(format.s))
			break
		}
		b.addPart(format, at, at+i)
		at += i + 1
		padded := format.s[at] != '-'
		if !padded && at+1 < len(format.s) {
			at++
		}
		s := r.date(format.s[at])
		if !padded {
			s = unpadded(s)
		}
		b.own(s)
		at++
	}
	return b.text()
}

// unpadded is a number without the zeros or spaces before it.
func unpadded(s string) string {
	short := strings.TrimLeft(s, "0 ")
	if short == "" && s != "" {
		return "0"
	}
	return short
}

// layouts are the directives that Go has a layout for.
var layouts = map[byte]string{
	'A': "Monday", 'a': "Mon", 'B': "January", 'b': "Jan", 'h': "Jan", 'd': "02", 'e': "_2", 'm': "01", 'Y': "2006", 'y': "06",
	'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'j': "002", 'Z': "MST", 'z': "-0700", 'F': "2006-01-02", 'T': "15:04:05",
	'D': "01/02/06", 'R': "15:04", 'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'X': "15:04:05", 'r': "03:04:05 PM",
}

// date is one directive.
func (r *rendering) date(directive byte) string {
	if layout, ok := layouts[directive]; ok {
		return r.now.Format(layout)
	}
	switch directive {
	case '%':
		return "%"
	case 'n':
		return "\n"
	case 't':
		return "\t"
	case 'f':
		return fmt.Sprintf("%06d", r.now.Nanosecond()/int(time.Microsecond))
	case 'u':
		return fmt.Sprint((int(r.now.Weekday())+6)%7 + 1)
	case 'w':
		return fmt.Sprint(int(r.now.Weekday()))
	case 's':
		return fmt.Sprint(r.now.Unix())
	}
	throwUnsupported("the directive %%%c of strftime_now", directive)
	return ""
}
