package trace

import (
	"bytes"
	"encoding/json"
)

// Is says whether a file that begins with head is a trace, of whatever version.
func Is(head []byte) bool {
	line, _, whole := bytes.Cut(head, []byte{'\n'})
	var h Header
	return whole && isHeader(line, &h)
}

// isHeader reads a header, and says whether line is one.
func isHeader(line []byte, h *Header) bool {
	return json.Unmarshal(line, h) == nil && h.Version != 0
}
