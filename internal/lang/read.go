package lang

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/expr-lang/expr/ast"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// Groups are the first words of state stubs, with the paths in each.
var Groups = func() map[string][]string {
	m := map[string][]string{}
	for _, s := range stubs.Catalogue {
		group, _, _ := strings.Cut(s.Path, ".")
		m[group] = append(m[group], s.Path)
	}
	return m
}()

// readKey distinguishes the reads of a program.
type readKey struct {
	id       stubs.ID
	key      string
	by       ir.KeyOf
	keyed    bool // by is the key
	pattern  string
	quantile float64
	window   time.Duration

	taken    ir.Taken
	fallback uint64
}

// field is the part of a path after a dot or in brackets.
type field struct {
	text    string
	pattern bool // it is a pattern's
}

// member lowers the read of a state stub or a state.
func (l *lowerer) member(n *ast.MemberNode) value {
	if name, key, ok := stateAndKey(n); ok {
		return l.stateByKey(n, l.constantText(name, "a key"), key)
	}
	stub, fields := l.lookUp(n)
	if stub == nil {
		return l.state(n, fields)
	}
	if stub.Quantile {
		l.refuse(n, "write "+stub.Path+"(0.99)", "%s needs a quantile", stub.Path)
	}
	key := l.keyOf(n, stub, fields)
	return value{node: l.stub(n, stub, key), enum: stub.Enum}
}

// lookUp returns the state stub at the beginning of n, and the fields after it; for a state, nil
// and all fields.
func (l *lowerer) lookUp(n *ast.MemberNode) (*stubs.Stub, []field) {
	base, fields := l.path(n)
	id, ok := base.(*ast.IdentifierNode)
	if !ok {
		l.refuse(n, "", "%s has no fields", l.excerpt(base))
	}
	if id.Value == "state" {
		return nil, fields
	}
	if id.Value == "labels" && !l.bound(id.Value) {
		l.refuse(n, "write "+l.taskGroup()+"."+labelPath(fields[0].text), "there is no labels")
	}
	if _, ok := Groups[id.Value]; !ok {
		v := l.identifier(id)
		l.refuse(n, "", "%s is %s and has no fields", id.Value, describe(v))
	}
	path := id.Value + "." + fields[0].text
	stub, ok := stubs.Lookup(path)
	if !ok {
		l.refuse(n, StubHint(id.Value, fields[0].text), "there is no state stub %s", path)
	}
	return stub, fields[1:]
}

// taskGroup returns the group of the stubs of the task that the policy is most likely about.
func (l *lowerer) taskGroup() string {
	if l.env.On == stubs.Enqueue {
		return "arriving"
	}
	return "task"
}

// labelPath writes a label as a field of a task.
func labelPath(label string) string {
	if strings.ContainsFunc(label, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		return fmt.Sprintf("labels[%q]", label)
	}
	return "labels." + label
}

// StubHint guesses the intended stub of a group from the field, for any group. An unknown field of
// a task may be a label.
func StubHint(group, field string) string {
	var fields []string
	for _, p := range Groups[group] {
		fields = append(fields, strings.TrimPrefix(p, group+"."))
	}
	if s := Suggest(field, fields); s != "" {
		return "did you mean " + group + "." + s + "?"
	}
	there := "there is " + strings.Join(Groups[group], ", ")
	switch {
	case group != "task" && group != "arriving":
	case field == "tenant":
		return "write tenant.name"
	default:
		return "write " + group + "." + labelPath(field) + " if it is a label; " + there
	}
	return there
}

// path splits a.b["c"] into its base and the fields, which are constants.
func (l *lowerer) path(n *ast.MemberNode) (base ast.Node, fields []field) {
	base = n
	for {
		m, ok := base.(*ast.MemberNode)
		if !ok {
			slices.Reverse(fields)
			return base, fields
		}
		if _, isNumber := m.Property.(*ast.IntegerNode); isNumber {
			l.refuse(m, "look at elements with any, all, none, count and in", "elements have no numbers")
		}
		if text, ok := l.pattern(m.Property); ok {
			fields = append(fields, field{text, true})
		} else {
			fields = append(fields, field{text: l.constantText(m.Property, "a key")})
		}
		base = m.Node
	}
}

// hyphen refuses a key with a hyphen after a dot, as in arriving.labels.x-user.
func (l *lowerer) hyphen(n *ast.BinaryNode) {
	m, isMember := n.Left.(*ast.MemberNode)
	id, isName := n.Right.(*ast.IdentifierNode)
	if n.Operator != "-" || !isMember || !isName || l.bound(id.Value) {
		return
	}
	base, fields := l.path(m)
	group, ok := base.(*ast.IdentifierNode)
	if !ok || len(fields) != 2 {
		return
	}
	if s, known := stubs.Lookup(group.Value + "." + fields[0].text); known && s.Keyed {
		l.refuse(n, fmt.Sprintf("write %s[%q]", s.Path, fields[1].text+"-"+id.Value), "%s subtracts %s from %s", l.excerpt(n), id.Value, l.excerpt(m))
	}
}

// bound reports whether a let or a quantifier names a value so.
func (l *lowerer) bound(name string) bool {
	return slices.ContainsFunc(l.scope, func(b binding) bool { return b.name == name })
}

// keyOf returns the read of a stub that the keys follow.
func (l *lowerer) keyOf(n ast.Node, s *stubs.Stub, keys []field) readKey {
	key := readKey{id: s.ID}
	switch {
	case s.Keyed && len(keys) == 0:
		l.refuse(n, `write `+s.Path+`["name"]`, "%s needs a key", s.Path)
	case s.Keyed && keys[0].text == "":
		l.refuse(n, "", "the key of %s is empty", s.Path)
	case s.ID == stubs.TaskSections && keys[0].pattern:
		key.pattern, keys = keys[0].text, keys[1:]
	case s.Keyed && keys[0].pattern:
		l.refuse(n, "write the key out", "the key of %s is not a pattern", s.Path)
	case s.Keyed:
		key.key, keys = keys[0].text, keys[1:]
	}
	if len(keys) > 0 {
		l.refuse(n, "remove "+keys[0].text, "%s is %s and has no fields", s.Path, article(s.Type))
	}
	return key
}

// stub makes the read of a stub of the catalogue.
func (l *lowerer) stub(n ast.Node, s *stubs.Stub, key readKey) *ir.Node {
	if missing := l.env.On &^ s.On; missing != 0 {
		l.refuse(n, "it is set on "+s.On.String()+" only", "%s is not known on %s", s.Path, missing)
	}
	words := 1
	if s.Type == stubs.NameList {
		words += int(s.Max)
	}
	return l.read(n, key, s.Type, words)
}

// state lowers state.NAME. Further fields, after the state and a key, are fields of the value.
func (l *lowerer) state(n ast.Node, fields []field) value {
	name := fields[0].text
	t, ok := l.env.States[name]
	switch {
	case !ok:
		l.noState(n, name)
	case len(fields) > 1:
		l.refuse(n, "remove "+fields[len(fields)-1].text, "state.%s is %s and has no fields", name, article(t))
	case l.env.Tables[name].Keyed:
		by := l.env.Tables[name].By
		l.refuse(n, fmt.Sprintf("write state.%s[%s], or another %v as the key", name, strings.Join(by.Example(), "]["), by), "the state %s has a value for each key", name)
	}
	return value{node: l.readState(n, name, nil)}
}

func (l *lowerer) stateNames() []string { return slices.Collect(maps.Keys(l.env.States)) }

// noState refuses an unregistered state.
func (l *lowerer) noState(n ast.Node, name string) {
	r := l.refusal(n, l.stateHint(name), "there is no state %q", name)
	r.NoState = name
	panic(r)
}

func (l *lowerer) stateHint(name string) string {
	if s := Suggest(name, l.stateNames()); s != "" {
		return "did you mean " + s + "?"
	}
	return "register it, or give the policy a private state of that name"
}

// read makes a read of the snapshot; equal reads share their words.
func (l *lowerer) read(n ast.Node, key readKey, t stubs.Type, words int) *ir.Node {
	r := l.node(n, ir.OpRead, t)
	i, ok := l.reads[key]
	if !ok {
		i = len(l.prog.Reads)
		l.reads[key] = i
		one := ir.Read{Stub: key.id, Key: key.key, Pattern: key.pattern, Taken: key.taken, Default: key.fallback,
			Quantile: key.quantile, Window: key.window, Type: t, Offset: l.prog.Words, Words: words, Pos: r.Pos}
		if key.keyed {
			one.By = &key.by
		}
		if key.id == stubs.State {
			one.Burst = l.env.Tables[key.key].Burst
		}
		l.prog.Reads = append(l.prog.Reads, one)
		l.prog.Words += words
	}
	r.Index = l.prog.Reads[i].Offset
	return r
}
