package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/stubs"
)

// Pattern is a name in which stars stand for any characters, as in "GET /admin/*". Two stars are
// none of a pattern: that in "\*", which stands for itself, and that behind an opening parenthesis,
// as in the names of Go's methods, "regexp.(*Regexp).Match".
type Pattern struct {
	parts []string // what stands between the stars; one part: there is no star
}

// MaxStars bounds the stars of a pattern.
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

// Name returns the one name that the pattern matches; ok is false when it has a star.
func (p Pattern) Name() (name string, ok bool) {
	if !p.one() {
		return "", false
	}
	return p.parts[0], true
}

func (p Pattern) one() bool { return len(p.parts) == 1 }

// Matches reports whether the pattern is for the name. It takes time in proportion to the name's
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
		if _, rest, ok = strings.Cut(rest, part); !ok { // the first of several will do: more of the name is left behind it
			return false
		}
	}
	return strings.HasSuffix(rest, p.parts[last])
}

// Precision returns how many characters of a name the pattern fixes. Of several patterns the one
// with the greatest says the most; a name says more than any pattern.
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

// checkPattern checks a name, or a pattern of names; what says whose.
func checkPattern(what, text string) error {
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

// Selector says which names of tasks a Match is for.
type Selector struct {
	names map[string]bool // those that the lists name: whether they are in
	by    []selectedBy    // patterns, the most precise first
	rest  bool            // whether names are in that nothing is said of
}

type selectedBy struct {
	Pattern
	in bool
}

// Selector returns what Tasks and Except come to; nil when there is no pattern and nothing is
// excepted, so that names can be compared.
func (m Match) Selector() *Selector {
	s := &Selector{names: map[string]bool{}, rest: len(m.Tasks) == 0}
	for _, text := range m.Tasks {
		s.add(text, true)
	}
	if len(s.by) == 0 && len(m.Except) == 0 {
		return nil
	}
	for _, text := range m.Except {
		s.add(text, false)
	}
	slices.SortStableFunc(s.by, func(a, b selectedBy) int {
		switch byPrecision := b.Precision() - a.Precision(); {
		case byPrecision != 0 || a.in == b.in:
			return byPrecision
		case a.in:
			return 1 // that which excepts goes first
		}
		return -1
	})
	return s
}

func (s *Selector) add(text string, in bool) {
	p, _ := ParsePattern(text) // an error is Validate's to tell; the zero Pattern matches nothing
	if name, ok := p.Name(); ok {
		s.names[name] = in
		return
	}
	s.by = append(s.by, selectedBy{p, in})
}

// Selects reports whether tasks of the name are in: what says the most of the name decides.
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
