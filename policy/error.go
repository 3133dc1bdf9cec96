package policy

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Error is the reason why a policy's text is refused: the place, the problem, and a hint. Parse and
// the verifier stop at the first error, because later errors are often consequences of it.
//
// Error() is one line; the verb %+v also prints the marked line.
type Error struct {
	Text      string // the policy's text
	Line, Col int    // of the marked place; both count from 1, columns in characters
	Pos, End  int    // the marked place, as byte offsets in Text
	Reason    string
	Hint      string // what to write instead; may be empty
	NoState   string // the unregistered state; may be empty
	NoFunc    string // the unregistered function; may be empty
}

// newError marks text[pos:end].
func newError(text string, pos, end int, hint, reason string) *Error {
	pos = min(max(pos, 0), len(text))
	end = min(max(end, pos), len(text))
	before := text[:pos]
	start := strings.LastIndexByte(before, '\n') + 1
	return &Error{
		Text: text, Pos: pos, End: end,
		Line:   strings.Count(before, "\n") + 1,
		Col:    utf8.RuneCountInString(before[start:]) + 1,
		Reason: clip(reason), Hint: clip(hint),
	}
}

// clip limits the length of a message, which may quote words of any length.
func clip(s string) string {
	const most = 400
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "..."
}

// Errorf makes an error about the node n of the program, or about its whole text when n is nil. The
// hint may be empty.
func (p *Program) Errorf(n *Node, hint, format string, args ...any) *Error {
	pos, end := 0, len(p.Text)
	if n != nil {
		pos, end = n.Pos, n.End
	}
	return newError(p.Text, pos, end, hint, fmt.Sprintf(format, args...))
}

// Error returns "policy.expr:3:12: reason; hint".
func (e *Error) Error() string {
	s := fmt.Sprintf("policy.expr:%d:%d: %s", e.Line, e.Col, e.Reason)
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Format prints Error(), and for %+v the full message over several lines.
func (e *Error) Format(f fmt.State, verb rune) {
	switch {
	case verb == 'v' && f.Flag('+'):
		io.WriteString(f, e.story())
	case verb == 'q':
		fmt.Fprintf(f, "%q", e.Error())
	default:
		io.WriteString(f, e.Error())
	}
}

// story returns the reason, the line with the place marked, and the hint.
func (e *Error) story() string {
	start := strings.LastIndexByte(e.Text[:e.Pos], '\n') + 1
	end := len(e.Text)
	if i := strings.IndexByte(e.Text[e.Pos:], '\n'); i >= 0 {
		end = e.Pos + i
	}
	from := utf8.RuneCountInString(e.Text[start:e.Pos])
	width := utf8.RuneCountInString(e.Text[e.Pos:min(e.End, end)])
	s := fmt.Sprintf("policy.expr:%d:%d: %s%s", e.Line, e.Col, e.Reason, marked(e.Text[start:end], e.Line, from, width))
	if e.Hint != "" {
		s += "\n  hint: " + e.Hint
	}
	return s
}

// maxSnippet is the greatest length of the printed part of a line, in characters.
const maxSnippet = 120

// marked prints a line under its number, with a place in it marked, and cuts it to maxSnippet
// around that.
func marked(line string, number, from, width int) string {
	printable := func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7f:
			return ' '
		case invisible(r):
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
