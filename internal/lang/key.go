package lang

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// key lowers the key of a keyed state.
func (l *lowerer) key(at ast.Node, name string, parts []ast.Node) *ir.KeyOf {
	by := l.env.Tables[name].By
	if want := by.Parts(); want != len(parts) && (want != 0 || len(parts) > ir.MaxKeyParts) {
		hint := fmt.Sprintf("its keys are by %v, as in state.%s[%s]", by, name, strings.Join(by.Example(), "]["))
		switch {
		case len(parts) > ir.MaxKeyParts:
			hint += fmt.Sprintf("; a key has at most %d parts", ir.MaxKeyParts)
		case want == 1:
			hint += "; declare it with by: [name, name], or [name, int], for a value of each pair"
		}
		l.refuse(at, hint, "the key of the state %s has %s here", name, map[bool]string{true: "1 part", false: fmt.Sprint(len(parts), " parts")}[len(parts) == 1])
	}
	var k ir.KeyOf
	for i, n := range parts {
		k[i] = l.keyPart(n, by[i])
	}
	return &k
}

// keyPart lowers a part of a key of the type want, or of any type. The runtime looks the value up
// before the evaluation, so the key must be known before it.
func (l *lowerer) keyPart(n ast.Node, want stubs.Type) ir.KeyPart {
	v := l.value(n)
	t := v.node.Type
	if t == stubs.Name && v.enum || t != stubs.Name && t != stubs.Int || want != stubs.Invalid && t != want {
		l.noKey(n, want, v)
	}
	switch {
	case v.constText:
		return ir.KeyPart{Type: t, Constant: true, Word: uint64(stubs.Intern(v.text)), Text: v.text}
	case v.constant() && t == stubs.Int:
		return ir.KeyPart{Type: t, Constant: true, Word: v.node.Imm, Text: strconv.FormatInt(int64(v.node.Imm), 10)}
	}
	read := v.node
	if v.read != nil {
		read = v.read
	}
	i := slices.IndexFunc(l.prog.Reads, func(r ir.Read) bool { return r.Offset == read.Index && r.Stub < stubs.State })
	if read.Op != ir.OpRead || i < 0 {
		l.noKey(n, want, v)
	}
	return ir.KeyPart{Type: t, Offset: read.Index, Text: l.prog.Reads[i].String()}
}

// noKey refuses n as a part of a key.
func (l *lowerer) noKey(n ast.Node, want stubs.Type, v value) {
	if want == stubs.Int {
		l.refuse(n, "write task.priority, int(task.labels.NAME) or another count that a state stub has, or a number",
			"this key is a plain number that a state stub has, or a constant, and %s is %s", l.excerpt(n), describe(v))
	}
	l.refuse(n, "write one of "+strings.Join(keyStubs, ", ")+`, or a string in quotes`,
		"the key of a state is a name that a state stub has, or a string constant, and %s is %s", l.excerpt(n), describe(v))
}

// keyStubs are the stubs with names usable as keys.
var keyStubs = func() (paths []string) {
	for _, s := range stubs.Catalogue {
		if s.Type != stubs.Name || s.Enum {
			continue
		}
		path := s.Path
		if s.Keyed {
			path += ".NAME"
		}
		paths = append(paths, path)
	}
	return paths
}()
