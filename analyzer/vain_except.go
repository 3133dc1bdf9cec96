package analyzer

import (
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
)

// vainExceptions returns warnings about entries of except that except no task, because each entry
// of tasks that is about the same tasks is more specific, and counts.
func (m Member) vainExceptions() (all []Remark) {
	match := m.Spec.Match
	if len(match.Tasks) == 0 || len(match.Except) == 0 || m.Spec.Name == policy.Background().Name {
		return nil // exceptions of the policy background are other entries of the document's tasks
	}
	tasks, stars := map[string]bool{}, []lang.Pattern{}
	for _, text := range match.Tasks {
		p, _ := lang.ParsePattern(text)
		if name, one := p.Name(); one {
			tasks[name] = true
		} else {
			stars = append(stars, p)
		}
	}
	for _, text := range match.Except {
		e, _ := lang.ParsePattern(text)
		if _, one := e.Name(); one || slices.ContainsFunc(stars, func(p lang.Pattern) bool { return p.Precision() <= e.Precision() && p.Overlaps(e) }) {
			continue // it is as specific as any entry
		}
		all = append(all, m.about("match: %q in except excepts nothing, because the names in tasks are more specific, and count; leave it out", text))
	}
	return all
}

// methodless returns the declared request of which a pattern has the path without the method, as in
// /items* for GET /items/{id}, or "". Methods of gRPC begin with a slash, too, and have a point.
func (d *declaration) methodless(pattern string) string {
	p, err := lang.ParsePattern(pattern)
	if err != nil || !isPattern(pattern) || !strings.HasPrefix(pattern, "/") || strings.Contains(pattern, ".") || len(pattern) < 3 {
		return ""
	}
	if slices.ContainsFunc(d.patterns, p.Overlaps) || slices.ContainsFunc(d.names, p.Matches) {
		return ""
	}
	for _, name := range d.names {
		if _, path, ok := strings.Cut(name, " /"); ok && p.Matches("/"+path) {
			return name
		}
	}
	return ""
}
