package analyzer

import (
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// strangers returns warnings about reads of keyed states under keys of another kind than all keys
// under which policies write: written by tenant.name, and read by task.name.
func strangers(members []Member, d Declared) (all []Remark) {
	written := map[string][]keyKind{}
	for _, m := range members {
		for _, s := range m.Verified.program.Sites {
			if s.By != nil && s.Effect.Writes() {
				written[m.own(s.Name)] = append(written[m.own(s.Name)], m.keyKind(s.By))
			}
		}
	}
	for _, m := range members {
		for _, r := range m.Verified.program.Reads {
			writers := written[m.own(r.Key)]
			if r.Stub != stubs.State || r.By == nil || len(writers) == 0 {
				continue
			}
			mine := m.keyKind(r.By)
			if slices.ContainsFunc(writers, func(w keyKind) bool { return mine.meets(w, d.Tenant) }) {
				continue
			}
			n := &policy.Node{Pos: r.Pos, End: min(r.Pos+1, len(m.Verified.program.Text))}
			m.Verified.program.Root.Any(func(at *policy.Node) bool {
				if at.Op == policy.OpRead && at.Index == r.Offset {
					n = at
				}
				return n == at
			})
			all = append(all, m.remark(n, "use the same stub for the key, of the arriving task or of the task",
				"the state %s is read by %s, and written by %s alone: the keys never meet", r.Key, mine, writers[0]))
		}
	}
	return all
}

// keyKind are the parts of a key: for each the path of a stub, or "" for a constant. The arriving
// task's stubs count as those of the task.
type keyKind []string

func (k keyKind) String() string { return strings.Join(k, " and ") }

func (m Member) keyKind(by *policy.KeyOf) (kind keyKind) {
	for _, part := range by {
		switch {
		case part.Type == stubs.Invalid:
		case part.Constant:
			kind = append(kind, "")
		default:
			path := part.Text
			for _, r := range m.Verified.program.Reads {
				if r.Offset == part.Offset {
					path = r.String()
				}
			}
			kind = append(kind, strings.ReplaceAll(path, "arriving.", "task."))
		}
	}
	return kind
}

// meets reports whether a key of one kind may be equal to a key of the other. The application
// chooses the names of events and the numbers in texts, and the label of the tenants names them.
func (k keyKind) meets(w keyKind, tenant string) bool {
	for i := range min(len(k), len(w)) {
		one, other := min(k[i], w[i]), max(k[i], w[i])
		label := strings.HasPrefix(one, "task.labels") && other == "tenant.name"
		switch {
		case one == other, one == "", one == "event.name", strings.HasPrefix(one, "int("), strings.HasPrefix(other, "int("):
		case label && (tenant == "" || one == (policy.Read{Stub: stubs.TaskLabels, Key: tenant}).String()):
		default:
			return false
		}
	}
	return true
}
