package jinja

// kind is the kind of a token.
type kind uint8

const (
	kEOF        kind = iota
	kData            // text of the template
	kBlockBegin      // {%
	kBlockEnd        // %}
	kPrintBegin      // {{
	kPrintEnd        // }}
	kName
	kString // its text is unescaped
	kInteger
	kFloat
	kOperator // or a bracket, a comma, a dot
)

// token is a piece of a source.
type token struct {
	kind kind
	text string
	line int
}

func (t token) is(operator string) bool { return t.kind == kOperator && t.text == operator }

func (t token) named(name string) bool { return t.kind == kName && t.text == name }

// String is how errors call the token.
func (t token) String() string {
	switch t.kind {
	case kEOF:
		return "end of template"
	case kData:
		return "template data / text"
	case kBlockBegin:
		return "begin of statement block"
	case kBlockEnd:
		return "end of statement block"
	case kPrintBegin:
		return "begin of print statement"
	case kPrintEnd:
		return "end of print statement"
	}
	return t.text
}

// operators, longest first.
var operators = []string{
	"//", "**", "==", "!=", ">=", "<=",
	"+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", ">", "<", "=", ".", ":", "|", ",", ";",
}

// closing is the bracket that closes another.
var closing = map[string]string{"(": ")", "[": "]", "{": "}"}
