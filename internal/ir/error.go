package ir

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/cocoon-go/cocoon/internal/snippet"
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

// NewError marks text[pos:end].
func NewError(text string, pos, end int, hint, reason string) *Error {
	pos = min(max(pos, 0), len(text))
	end = min(max(end, pos), len(text))
	before := text[:pos]
	start := strings.LastIndexByte(before, '\n') + 1
	return &Error{
		Text: text, Pos: pos, End: end,
		Line:   strings.Count(before, "\n") + 1,
		Col:    utf8.RuneCountInString(before[start:]) + 1,
		Reason: snippet.Clip(reason), Hint: snippet.Clip(hint),
	}
}

// Errorf makes an error about the node n of the program, or about its whole text when n is nil. The
// hint may be empty.
func (p *Program) Errorf(n *Node, hint, format string, args ...any) *Error {
	pos, end := 0, len(p.Text)
	if n != nil {
		pos, end = n.Pos, n.End
	}
	return NewError(p.Text, pos, end, hint, fmt.Sprintf(format, args...))
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
	s := fmt.Sprintf("policy.expr:%d:%d: %s%s", e.Line, e.Col, e.Reason, snippet.Mark(e.Text[start:end], e.Line, from, width))
	if e.Hint != "" {
		s += "\n  hint: " + e.Hint
	}
	return s
}
