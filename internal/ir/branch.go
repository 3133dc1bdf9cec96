package ir

import (
	"strings"

	"github.com/cocoon-go/cocoon/internal/snippet"
	"github.com/cocoon-go/cocoon/stubs"
)

// Branch is the part of a program that gave the verdict of an evaluation.
type Branch struct {
	Verdict *Node       // as the text has it
	When    []Condition // the choices on the way to the verdict, the outermost first
}

// Condition is the condition of a choice, and what it was in an evaluation.
type Condition struct {
	*Node
	Holds bool
}

// Decided returns the branch that gives the verdict for a snapshot. It evaluates the program as
// Interpret does, with its errors and its cost. The result is the same each time, because an
// evaluation depends on nothing but the snapshot.
func (p *Program) Decided(snapshot []uint64) (b Branch, err error) {
	var open *Node // the choice with the condition that is being evaluated
	_, _, err = Trace(p, snapshot, func(n *Node) {
		if open != nil && (n == open.B || n == open.C) {
			b.When = append(b.When, Condition{open.A, n == open.B})
			open = nil
		}
		switch {
		case n.Type != stubs.Verdict: // of an effect
		case n.Op == OpIf:
			open = n
		case n.Op == OpVerdict:
			b.Verdict = n
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
