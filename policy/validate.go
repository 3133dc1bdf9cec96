package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// maxSpecName is the greatest length of a policy's name, in bytes.
const maxSpecName = 128

// Validate reports errors in the spec, except in its expression: name, trigger, mode, match and
// private state.
func (s Spec) Validate() error {
	if err := validateName(s.Name); err != nil {
		return err
	}
	_, zone := s.Location()
	_, state := StatesOf(s.State)
	check := errors.Join(s.On.validate(), s.Mode.Validate(), s.Match.validate(), zone, state)
	if check != nil {
		return fmt.Errorf("policy %q: %w", s.Name, firstOf(check))
	}
	return nil
}

// Parse validates the spec and parses its expression. states are the registered states by name, and
// funcs the functions registered as safe. An error in the expression is an *Error.
func (s Spec) Parse(states map[string]State, funcs map[string]bool) (*ir.Program, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	env := lang.Env{On: s.On.Set(), Funcs: funcs}
	for name, state := range states {
		env.Declare(name, state.Type, state.Table())
	}
	private, _ := StatesOf(s.State)
	for _, name := range slices.Sorted(maps.Keys(private)) {
		if _, ok := states[name]; ok {
			return nil, fmt.Errorf("policy %q: state %q is registered already; choose another name for the private one", s.Name, name)
		}
		env.Declare(name, private[name].Type, private[name].Table())
	}
	p, err := lang.Parse(s.Expr, env)
	if err != nil {
		return nil, fmt.Errorf("policy %q: %w", s.Name, err)
	}
	return p, nil
}

// firstOf returns the first of joined errors, so that the message stays one line.
func firstOf(joined error) error {
	return joined.(interface{ Unwrap() []error }).Unwrap()[0]
}

func validateName(name string) error {
	allowed := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./", r)
	}
	bad := func(r rune) bool { return !allowed(r) }
	switch {
	case name == "":
		return errors.New("the policy has no name; give it one, as in \"limit-regex\"")
	case len(name) > maxSpecName:
		return fmt.Errorf("policy name %.20q... has %d bytes, and %d are allowed", name, len(name), maxSpecName)
	case strings.ContainsFunc(name, bad):
		return fmt.Errorf("policy name %q: a name has letters, digits, '-', '_', '.' and '/' only", name)
	}
	return nil
}

func (t Trigger) validate() error {
	switch {
	case t.Interval != 0 && (t.Interval < lang.MinInterval || t.Interval > lang.MaxInterval):
		return fmt.Errorf("the interval %v is not between %v and %v", t.Interval, lang.MinInterval, lang.MaxInterval)
	case t.Interval == 0 && t.Events == 0:
		return errors.New("it is never evaluated; say when with Every, On or OnCustom")
	case t.Events&stubs.Tick != 0:
		return errors.New("tick is not an event to name; use Every with an interval")
	case t.Events&^stubs.AnyEvent != 0:
		return fmt.Errorf("unknown events %#x", uint16(t.Events&^stubs.AnyEvent))
	case t.Custom != "" && t.Events&stubs.Custom == 0:
		return fmt.Errorf("the event name %q needs the event custom; use OnCustom", t.Custom)
	}
	return nil
}

func (m Match) validate() error {
	for _, k := range m.Kinds {
		if !lang.KnownKind(k) {
			return fmt.Errorf("match.kinds: there is no kind %q; want %s", k, lang.KindNames)
		}
	}
	if slices.Contains(m.Loops, "") {
		return errors.New("match.loops: a loop's name is empty")
	}
	for _, name := range m.Loops {
		p, _ := lang.ParsePattern(name)
		if _, one := p.Name(); !one {
			return fmt.Errorf("match.loops: %q has a star, and loops are matched by whole names; leave loops out for all of them", name)
		}
	}
	for _, name := range m.Tasks {
		if err := lang.CheckPattern("a task's name", name); err != nil {
			return fmt.Errorf("match.tasks: %w", err)
		}
	}
	for _, name := range m.Except {
		if err := lang.CheckPattern("a task's name", name); err != nil {
			return fmt.Errorf("match.except: %w", err)
		}
	}
	return m.contradiction()
}

// contradiction returns an error if except leaves nothing of an entry of tasks, or has an entry
// that is about none of them. Two entries contend only if they are equally specific, and then the
// exception counts.
func (m Match) contradiction() error {
	tasks := make([]lang.Pattern, len(m.Tasks))
	for i, text := range m.Tasks {
		tasks[i], _ = lang.ParsePattern(text)
	}
	for _, text := range m.Except {
		excepted, _ := lang.ParsePattern(text)
		if len(tasks) == 0 && lang.MatchesAll(text) {
			return fmt.Errorf("match.except: %q excepts every task, so the policy is about none; remove it, or name tasks in match.tasks", text)
		}
		if i := slices.IndexFunc(tasks, excepted.Same); i >= 0 {
			return fmt.Errorf("match: %q stands in tasks and in except, so it matches no task; remove one of the two", m.Tasks[i])
		}
		if len(tasks) > 0 && !slices.ContainsFunc(tasks, excepted.Overlaps) {
			return fmt.Errorf("match.except: %q excepts nothing, because match.tasks has no such task; correct the name, or remove it", text)
		}
	}
	return nil
}

// isIdentifier reports whether name can follow state. in an expression.
func isIdentifier(name string) bool {
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != "" && len(name) <= maxSpecName
}
