package ir

import (
	"strings"

	"github.com/cocoon-go/cocoon/internal/snippet"
	"github.com/cocoon-go/cocoon/stubs"
)

// Branch is the part of a program that gave the verdict of an evaluation, or had an effect.
type Branch struct {
	Verdict *Node       // as the text has it; or the effect
	When    []Condition // the choices on the way to it, the outermost first
}

// Condition is the condition of a choice, and what it was in an evaluation.
type Condition struct {
	*Node
	Holds bool
}

// Decided returns the branch that gives the verdict for a snapshot. It evaluates the program as
// Interpret does, with its errors and its cost. The result is the same each time, because an
// evaluation depends on nothing but the snapshot.
func (p *Program) Decided(snapshot []uint64) (Branch, error) {
	return p.branch(snapshot, func(n *Node) bool { return n.Op == OpVerdict })
}

// Effected is Decided for the branch with the effect of a site, which the evaluation carries out.
func (p *Program) Effected(snapshot []uint64, site int) (Branch, error) {
	return p.branch(snapshot, func(n *Node) bool { return n.Op == OpEffect && n.Index == site })
}

// branch returns the branch with the node that is evaluated and wanted.
func (p *Program) branch(snapshot []uint64, wanted func(*Node) bool) (b Branch, err error) {
	var open *Node    // the choice with the condition that is being evaluated
	var taken []*Node // of the choices so far: all on the way, and those of earlier effects
	var when []Condition
	_, _, err = Trace(p, snapshot, func(n *Node) {
		if open != nil && (n == open.B || n == open.C) {
			taken, when, open = append(taken, n), append(when, Condition{open.A, n == open.B}), nil
		}
		switch {
		case wanted(n):
			b = Branch{Verdict: n}
			for i, way := range taken {
				if way.Any(func(m *Node) bool { return m == n }) {
					b.When = append(b.When, when[i])
				}
			}
		case n.Op == OpIf && (n.Type == stubs.Verdict || n.Type == stubs.Unit):
			open = n
		}
	})
	if err != nil {
		return Branch{}, err
	}
	return b, nil
}

// Excerpt returns the text of a node on one line, cut after 400 characters.
func (p *Program) Excerpt(n *Node) string {
	return snippet.Clip(strings.Join(strings.Fields(p.Text[n.Pos:n.End]), " "))
}
