//go:build ignore

// Command letters prints every letter and number that Go's tables know, for make_unicode16.py.
package main

import (
	"fmt"
	"unicode"
)

func main() {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		switch {
		case unicode.IsLetter(r):
			fmt.Println("L", r)
		case unicode.IsNumber(r):
			fmt.Println("N", r)
		}
	}
}
