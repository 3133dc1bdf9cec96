package lang

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/stubs"
)

// Pattern is a name in which stars match any characters, as in "GET /admin/*". Two kinds of star
// match only themselves: "\*", and a star after an opening parenthesis, as in Go's method names,
// "regexp.(*Regexp).Match".
type Pattern struct {
	parts []string // the texts between the stars; one part: no star
}

// MaxStars is the greatest number of stars in a pattern.
const MaxStars = 16

// ParsePattern reads a name, or a pattern of names.
func ParsePattern(text string) (Pattern, error) {
	var p Pattern
	part := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && strings.HasPrefix(text[i+1:], "*"):
			i++
			part = append(part, '*')
		case text[i] == '*' && (i == 0 || text[i-1] != '('):
			p.parts = append(p.parts, string(part))
			part = part[:0]
		default:
			part = append(part, text[i])
		}
	}
	p.parts = append(p.parts, string(part))
	if stars := len(p.parts) - 1; stars > MaxStars {
		return Pattern{}, fmt.Errorf("the pattern %.40q has %d stars, and %d are allowed", text, stars, MaxStars)
	}
	return p, nil
}

// Name returns the only name that the pattern matches; ok is false when it has a star.
func (p Pattern) Name() (name string, ok bool) {
	if !p.one() {
		return "", false
	}
	return p.parts[0], true
}

func (p Pattern) one() bool { return len(p.parts) == 1 }

// Matches reports whether the pattern matches the name. It takes time proportional to the name's
// length.
func (p Pattern) Matches(name string) bool {
	if p.one() {
		return name == p.parts[0]
	}
	if len(p.parts) == 0 {
		return false
	}
	last := len(p.parts) - 1
	rest, ok := strings.CutPrefix(name, p.parts[0])
	if !ok {
		return false
	}
	for _, part := range p.parts[1:last] {
		if _, rest, ok = strings.Cut(rest, part); !ok { // the first one leaves most
			return false
		}
	}
	return strings.HasSuffix(rest, p.parts[last])
}

// Overlaps reports whether some name matches both p and q.
func (p Pattern) Overlaps(q Pattern) bool {
	switch {
	case p.one():
		return q.Matches(p.parts[0])
	case q.one():
		return p.Matches(q.parts[0])
	}
	// A name that begins with the longer beginning and ends with the longer end can have all other
	// parts in between.
	begins := func(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }
	ends := func(a, b string) bool { return strings.HasSuffix(a, b) || strings.HasSuffix(b, a) }
	return begins(p.parts[0], q.parts[0]) && ends(p.parts[len(p.parts)-1], q.parts[len(q.parts)-1])
}

// Covers reports whether p matches every name that q matches.
func (p Pattern) Covers(q Pattern) bool {
	// no name of a policy has the character, so only a star of p matches it
	return p.Matches(strings.Join(q.parts, "\x00"))
}

// Sample returns a name that the pattern matches.
func (p Pattern) Sample() string { return strings.Join(p.parts, "x") }

// MatchesAll reports whether a name, or a pattern of names, matches all names.
func MatchesAll(text string) bool {
	p, _ := ParsePattern(text)
	return !p.one() && p.Precision() == 0
}

// Same reports whether p and q match the same names.
func (p Pattern) Same(q Pattern) bool {
	return p.one() == q.one() && slices.Equal(p.compact(), q.compact())
}

// compact returns the parts without the empty ones between neighbouring stars.
func (p Pattern) compact() []string {
	last := len(p.parts) - 1
	inner := func(i int) bool { return 0 < i && i < last }
	var parts []string
	for i, part := range p.parts {
		if part != "" || !inner(i) {
			parts = append(parts, part)
		}
	}
	return parts
}

// Precision returns the number of characters of a name that the pattern fixes. The pattern with the
// greatest precision is the most specific; a name is more specific than any pattern.
func (p Pattern) Precision() int {
	if p.one() {
		return stubs.MaxName + 1
	}
	n := 0
	for _, part := range p.parts {
		n += len(part)
	}
	return n
}

// CheckPattern checks a name, or a pattern of names; what names its owner in errors.
func CheckPattern(what, text string) error {
	if text == "" {
		return errors.New(what + " is empty")
	}
	if len(text) > stubs.MaxName {
		return fmt.Errorf("%s has %d bytes, and %d are allowed", what, len(text), stubs.MaxName)
	}
	if _, err := ParsePattern(text); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Selector selects task names by lists of names and patterns.
type Selector struct {
	names map[string]bool // listed names, and whether they are selected
	by    []selectedBy    // patterns, the most precise first
	rest  bool            // whether unlisted names are selected
}

type selectedBy struct {
	Pattern
	in bool
}

// NewSelector returns the selector of a policy with match.tasks and match.except; nil when there is
// no pattern and no exception, so that names can be compared.
func NewSelector(tasks, except []string) *Selector {
	s := &Selector{names: map[string]bool{}, rest: len(tasks) == 0}
	for _, text := range tasks {
		s.add(text, true)
	}
	if len(s.by) == 0 && len(except) == 0 {
		return nil
	}
	for _, text := range except {
		s.add(text, false)
	}
	slices.SortStableFunc(s.by, func(a, b selectedBy) int {
		switch byPrecision := b.Precision() - a.Precision(); {
		case byPrecision != 0 || a.in == b.in:
			return byPrecision
		case a.in:
			return 1 // exceptions first
		}
		return -1
	})
	return s
}

func (s *Selector) add(text string, in bool) {
	p, _ := ParsePattern(text) // Validate reports the error; the zero Pattern matches nothing
	if name, ok := p.Name(); ok {
		s.names[name] = in
		return
	}
	s.by = append(s.by, selectedBy{p, in})
}

// Selects reports whether tasks of the name are selected: the most specific entry decides.
func (s *Selector) Selects(name string) bool {
	if in, ok := s.names[name]; ok {
		return in
	}
	for i := range s.by {
		if s.by[i].Matches(name) {
			return s.by[i].in
		}
	}
	return s.rest
}
