package analyzer

import (
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// unset warns of an "or" if one of its sides by itself makes the policy refuse or end all tasks
// whose label differs from a constant: that includes the tasks without the label. An author who
// means these tasks writes a policy of their own for them.
func (a *analysis) unset() (all []Warning) {
	c := a.contraries(stubs.Throw)
	c.follow(a.p.Root, nil, func(n *ir.Node, conds []condition) {
		parts := a.parts(conds)
		for _, part := range parts {
			if len(parts) < 2 || len(all) > 0 || len(part) == 0 {
				continue
			}
			label := ""
			for _, cond := range part {
				read := a.otherLabel(cond)
				if read == "" || label != "" && read != label {
					label = ""
					break
				}
				label = read
			}
			if label != "" {
				at := part[0]
				all = []Warning{{a.p.Errorf(at.Node, "write "+label+` != "" and `+c.showing(at)+"; or give these tasks a policy of their own, if they are meant",
					"%s also holds for tasks without the label, and leads to %s by itself", c.showing(at), a.text(n))}}
			}
		}
	})
	return all
}

// otherLabel returns the text of a label if a condition holds for all its values, "" included,
// except some.
func (a *analysis) otherLabel(c condition) string {
	n := a.named(c.Node)
	if n == nil || n.Op != ir.OpEq && n.Op != ir.OpNe && n.Op != ir.OpIn || (n.Op == ir.OpNe) != c.holds {
		return ""
	}
	x, y := a.named(n.A), a.named(n.B)
	if x != nil && x.Op == ir.OpConst {
		x, y = y, x
	}
	if x == nil || x.Op != ir.OpRead {
		return ""
	}
	r := a.reads[x.Index]
	if r.Stub != stubs.TaskLabels && r.Stub != stubs.ArrivingLabels || r.Taken != ir.TakenWhole || r.Type != stubs.Name {
		return ""
	}
	switch {
	case n.Op == ir.OpIn && withinSet(nameValue(exactName(0)), a.p.Sets[n.Index]).yes:
		return ""
	case n.Op != ir.OpIn && (y == nil || y.Op != ir.OpConst || y.Imm == 0):
		return ""
	}
	if text := a.text(x); strings.HasPrefix(text, stubs.Catalogue[r.Stub].Path) {
		return text
	}
	return r.String()
}
