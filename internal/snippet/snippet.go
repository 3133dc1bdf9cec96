// Package snippet formats excerpts of texts for messages: it marks a place in a line, cuts texts
// short, and finds invisible characters.
package snippet

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Invisible reports whether a character takes no space when displayed, or reorders its neighbours:
// a text with such a character reads differently to a person and to a machine
// (https://trojansource.codes).
func Invisible(r rune) bool {
	return r > 0x7e && (unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		unicode.IsControl(r))
}

// Clip limits the length of a message, which may quote words of any length.
func Clip(s string) string {
	const most = 400
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "..."
}

// maxSnippet is the greatest length of the printed part of a line, in characters.
const maxSnippet = 120

// Mark prints a line under its number, with a place in it marked, and cuts it to maxSnippet around
// the place.
func Mark(line string, number, from, width int) string {
	printable := func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7f:
			return ' '
		case Invisible(r):
			return '?' // the character itself could reorder the output
		}
		return r
	}
	runes := []rune(strings.Map(printable, line))
	if cut := from - maxSnippet/2; cut > 0 {
		runes, from = runes[min(cut, len(runes)):], from-cut
	}
	runes = runes[:min(len(runes), maxSnippet)]
	width = max(1, min(width, len(runes)-from))
	n := fmt.Sprint(number)
	return fmt.Sprintf("\n  %s | %s\n  %s | %s%s", n, string(runes), strings.Repeat(" ", len(n)), strings.Repeat(" ", from), strings.Repeat("^", width))
}
