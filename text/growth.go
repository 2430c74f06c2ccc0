package text

import "fmt"

// maxGrowth bounds what a chain of replacements makes of a text, each of which can lengthen
// what the one before has made. The longest of SentencePiece's NFKC, U+FDFA, becomes 33
// bytes, and a space 3.
const maxGrowth = 256

// growth is how many times longer a chain makes a text at most; 0: it has no part yet.
type growth int

// by notes a part of the chain that makes up to so many bytes of one.
func (g *growth) by(what string, bytes int) error {
	if bytes > maxGrowth/max(int(*g), 1) {
		return fmt.Errorf("%w: the %s makes a text more than %d times longer", ErrUnsupported, what, maxGrowth)
	}
	*g = max(*g, 1) * growth(max(bytes, 1))
	return nil
}

// replacing is a normalizer's and a decoder's Replace of a text.
func (g *growth) replacing(what, old, new string) error {
	return g.by(what, (len(new)+len(old)-1)/len(old))
}
