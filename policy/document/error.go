package document

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/snippet"
	"github.com/cocoon-go/cocoon/policy"
)

// Error is the reason why a document is refused, with the position in it. It also wraps the
// error of an expression in the document.
//
// Error() is one line that editors can follow, FILE:LINE:COLUMN: reason; hint. The verb %+v also
// prints the marked line.
type Error struct {
	File      string // "document" where no file is known
	Line, Col int    // both count from 1, columns in characters; 0: the whole file
	Width     int    // of the marked place, in characters
	Part      Part   // what the error is about; zero for the text itself
	Reason    string
	Hint      string // what to write instead; may be empty
	Err       error  // the registration's error, when the document itself is valid; or nil
	text      string // the line
	title     string // what the document calls Part, if not by its name
}

// Error returns "policies.yaml:12:7: reason; hint".
func (e *Error) Error() string {
	s := e.Where() + ": " + e.about() + e.Reason
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Where returns FILE:LINE:COLUMN.
func (e *Error) Where() string {
	if e.Line == 0 {
		return e.File
	}
	return fmt.Sprintf("%s:%d:%d", e.File, e.Line, e.Col)
}

func (e *Error) about() string {
	if e.Part.Kind == "" {
		return ""
	}
	return cmp.Or(e.title, e.Part.String()) + ": "
}

// Format prints Error(), and for %+v the full message over several lines.
func (e *Error) Format(f fmt.State, verb rune) {
	switch {
	case verb == 'v' && f.Flag('+') && e.Line > 0:
		fmt.Fprintf(f, "%s: %s%s%s", e.Where(), e.about(), e.Reason, e.Marked())
	case verb == 'q':
		fmt.Fprintf(f, "%q", e.Error())
	default:
		io.WriteString(f, e.Error())
	}
}

// Marked returns the line with the position marked, and the hint, each preceded by a newline.
func (e *Error) Marked() string {
	if e.Line == 0 {
		return ""
	}
	s := snippet.Mark(e.text, e.Line, e.Col-1, e.Width)
	if e.Hint != "" {
		s += "\n  hint: " + e.Hint
	}
	return s
}

// lineError refuses the node n.
func lineError(n *yaml.Node, format string, args ...any) error {
	width := 1
	if n.Kind == yaml.ScalarNode && n.Style == 0 {
		width = max(1, utf8.RuneCountInString(n.Value))
	}
	return &Error{File: "document", Line: n.Line, Col: n.Column, Width: width, Reason: fmt.Sprintf(format, args...)}
}

// InFile returns an error of a document with the name of its file.
func InFile(err error, file string) error {
	var de *Error
	if !errors.As(err, &de) {
		return fmt.Errorf("%s: %w", file, err)
	}
	in := *de
	in.File = file
	return &in
}

// Part is one declaration in a document.
type Part struct {
	// "state", "task", "tenants", "never-unwind", "canary", "policy", or "policies" for their order
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"` // "" of tenants, canary and policies
}

func (p Part) String() string {
	if p.Name == "" {
		return p.Kind
	}
	return fmt.Sprintf("%s %q", p.Kind, p.Name)
}

// declaration is the position of a Part in a document.
type declaration struct {
	node  *yaml.Node    // where it begins
	expr  *yaml.Node    // of a policy: its expression; nil: not literally in the document
	title string        // what the document calls it, as in limit of "f"; "": by its name
	match *policy.Match // of a policy that matches Default: its match as written
}

// Refused converts the error with which a part of the document was refused to an error of the
// document. Its position is in the expression, if the document contains the expression literally,
// or else the beginning of the part.
func (d *Document) Refused(part Part, err error) error {
	s, ok := d.parts[part]
	if !ok {
		return err
	}
	de := &Error{File: "document", Line: s.node.Line, Col: s.node.Column, Width: 1, Part: part, Err: err, title: s.title}
	var pe *ir.Error
	if !errors.As(err, &pe) {
		de.Reason = withoutPart(err.Error(), part)
		de.inMatch(s.node)
		return d.mark(de)
	}
	de.Reason, de.Hint = pe.Reason, pe.Hint
	if s.expr == nil {
		return d.mark(de)
	}
	from, to := d.within(s.expr, pe.Pos, pe.End)
	if from.line < to.line {
		to = place{from.line, len(d.lines[from.line-1])}
	}
	de.Line, de.Col = from.line, from.column(d.lines)
	de.Width = max(1, to.column(d.lines)-de.Col)
	if cut := strings.TrimSpace(s.expr.LineComment); cut != "" && s.expr.Style == 0 && isCut(pe, cut) {
		de.Hint = "YAML takes " + snippet.Clip(cut) + " for a comment; begin the text in a line of its own, after expr: |"
	}
	return d.mark(de)
}

// inMatch gives an error about the match of a policy the place of the name there that the error
// quotes first.
func (e *Error) inMatch(policy *yaml.Node) {
	if !strings.HasPrefix(e.Reason, "match: ") || policy.Kind != yaml.MappingNode {
		return
	}
	i := slices.IndexFunc(policy.Content, func(n *yaml.Node) bool { return n.Value == "match" })
	if i < 0 || i+1 == len(policy.Content) {
		return
	}
	first := len(e.Reason)
	nodes := slices.Clone(policy.Content[i+1 : i+2])
	for k := 0; k < len(nodes); k++ { // a match may have thousands of names
		n := nodes[k]
		nodes = append(nodes, n.Content...)
		if at := strings.Index(e.Reason, strconv.Quote(n.Value)); n.Kind == yaml.ScalarNode && 0 <= at && at < first {
			first, e.Line, e.Col = at, n.Line, n.Column
		}
	}
}

// isCut reports whether the comment after an expression is most likely its end: the expression is
// incomplete, or the error is at its end and the comment begins as the rest of one.
func isCut(pe *ir.Error, comment string) bool {
	incomplete := strings.HasSuffix(pe.Reason, " is never closed") ||
		slices.Contains([]string{"the text ends too early", "literal not terminated"}, pe.Reason)
	rest := strings.TrimLeft(comment, "# ")
	return incomplete || pe.End == len(pe.Text) && rest != "" && strings.ContainsAny(rest[:1], "=!<>?:)")
}

// within returns the positions of a range of the text of an expression.
func (d *Document) within(expr *yaml.Node, pos, end int) (from, to place) {
	if at := places(d.lines, expr); pos <= end && end < len(at) {
		return at[pos], at[end]
	}
	begin := place{expr.Line, byteColumn(d.lines[expr.Line-1], expr.Column)}
	return begin, begin
}

// withoutPart removes the part's name, which Error.Error adds itself.
func withoutPart(message string, part Part) string {
	message = strings.TrimPrefix(message, "cocoon: ")
	return strings.TrimPrefix(message, part.String()+": ")
}

// markIn adds the text of the line to an error.
func markIn(lines []string, err error) error {
	var de *Error
	if errors.As(err, &de) && de.Line > 0 && de.Line <= len(lines) {
		de.text = lines[de.Line-1]
		de.Col = max(de.Col, 1)
	}
	return err
}

func (d *Document) mark(err error) error { return markIn(d.lines, err) }

// Place returns the position where a part begins in the document; 0, 0 when the document does not
// have the part.
func (d *Document) Place(part Part) (line, col int) {
	if s, ok := d.parts[part]; ok {
		return s.node.Line, s.node.Column
	}
	return 0, 0
}

// Called returns what the document calls a policy: limit of "regex.match", preemption or order, of
// which a user has not written the policy's name, and otherwise policy "NAME".
func (d *Document) Called(policy string) string {
	part := Part{"policy", policy}
	return cmp.Or(d.parts[part].title, part.String())
}

// PlaceIn returns the position in the document of a byte of a policy's expression; ok is false when
// the document does not contain the expression literally.
func (d *Document) PlaceIn(policy string, offset int) (line, col int, ok bool) {
	s := d.parts[Part{"policy", policy}]
	if s.expr == nil {
		return 0, 0, false
	}
	at, _ := d.within(s.expr, offset, offset)
	return at.line, at.column(d.lines), true
}

// Parts returns the declarations of the document, in the order of the text.
func (d *Document) Parts() []Part {
	return slices.SortedFunc(maps.Keys(d.parts), func(a, b Part) int {
		x, y := d.parts[a].node, d.parts[b].node
		return cmp.Or(x.Line-y.Line, x.Column-y.Column, strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
}
