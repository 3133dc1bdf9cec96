package analyzer

import (
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// strangers returns warnings about reads of keyed states under keys that no policy writes: keys of
// another stub, as task.name of a state written by tenant.name, or other constants. Effects that
// bring the key of a task back to its first value do not count. KeyReads has the constant names.
func strangers(members []Member, d Declared) (all []Remark) {
	written := map[string][]keyKind{}
	for _, m := range members {
		p := m.Verified.program
		p.Root.Any(func(n *ir.Node) bool {
			if n.Op != ir.OpEffect && n.Op != ir.OpTake {
				return false
			}
			if s := p.Sites[n.Index]; s.By != nil && s.Effect.Writes() && (s.By.Constant() || !m.resets(n, d)) {
				written[m.own(s.Name)] = append(written[m.own(s.Name)], m.keyKind(s.By))
			}
			return false
		})
	}
	for _, m := range members {
		for _, r := range m.Verified.program.Reads {
			writers := written[m.own(r.Key)]
			if r.Stub != stubs.State || r.By == nil || len(writers) == 0 || r.By.Constant() && r.By.Types() == oneName {
				continue
			}
			mine := m.keyKind(r.By)
			if slices.ContainsFunc(writers, func(w keyKind) bool { return mine.meets(w, d.Tenant) }) {
				continue
			}
			if mine.constant() {
				all = append(all, m.remark(m.readAt(r), "write a key that a policy writes", "no policy writes the key %s of the state %s", mine, r.Key))
				continue
			}
			all = append(all, m.remark(m.readAt(r), hintOfKeys(writers[0]),
				"the state %s is read by %s, and written by %s alone: the keys never meet", r.Key, mine, writers[0]))
		}
	}
	return all
}

// resets reports whether an effect sets a state to its first value.
func (m Member) resets(n *ir.Node, d Declared) bool {
	site := m.Verified.program.Sites[n.Index]
	first, ok := m.declaration(site.Name, d)
	return ok && site.Effect == stubs.Set && n.A.Op == ir.OpConst && n.A.Imm == first.First
}

// hintOfKeys tells how the keys of a state, written by only one kind of keys, can meet those of its
// readers. An event has no labels, and a policy about a single event writes one key.
func hintOfKeys(writer keyKind) string {
	if slices.ContainsFunc(writer, func(p keyPart) bool { return strings.HasPrefix(p.text, "event.name ") }) {
		return "write on: custom in place of event, and let the program name the event by the key, as in rt.Notify(user, 1); or write the state on an event of the task, such as exit"
	}
	return "use the same stub for the key, of the arriving task or of the task"
}

// labelled returns warnings about constant keys with the name of a label, if other effects write
// the state by the values of this label: the key is the text, and no label.
func labelled(members []Member) (all []Remark) {
	labels := map[string]bool{} // of states, by their own names
	each := func(f func(m Member, n *ir.Node, s ir.Site)) {
		for _, m := range members {
			p := m.Verified.program
			p.Root.Any(func(n *ir.Node) bool {
				if (n.Op == ir.OpEffect || n.Op == ir.OpTake) && p.Sites[n.Index].By != nil {
					f(m, n, p.Sites[n.Index])
				}
				return false
			})
		}
	}
	each(func(m Member, _ *ir.Node, s ir.Site) {
		for _, r := range m.Verified.program.Reads {
			if r.Key != "" && (r.Stub == stubs.TaskLabels || r.Stub == stubs.ArrivingLabels) && slices.ContainsFunc(s.By[:], func(p ir.KeyPart) bool { return !p.Constant && p.Offset == r.Offset }) {
				labels[m.own(s.Name)+" "+r.Key] = true
			}
		}
	})
	each(func(m Member, n *ir.Node, s ir.Site) {
		for _, p := range s.By {
			if p.Constant && p.Type == stubs.Name && labels[m.own(s.Name)+" "+p.Text] {
				all = append(all, m.remark(n, "write task.labels."+p.Text+", or the value of a label", "the key %q of the state %s is a text, and other effects write the state by the label of that name", p.Text, s.Name))
			}
		}
	})
	return all
}

// readAt returns the place of a read.
func (m Member) readAt(r ir.Read) *ir.Node {
	n := &ir.Node{Pos: r.Pos, End: min(r.Pos+1, len(m.Verified.program.Text))}
	m.Verified.program.Root.Any(func(at *ir.Node) bool {
		if at.Op == ir.OpRead && at.Index == r.Offset {
			n = at
		}
		return n == at
	})
	return n
}
