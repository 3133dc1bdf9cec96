package keep

import "strings"

// paths is a pattern of import paths, with the go command's syntax: "..." matches any text, and
// "/..." at the end also matches the empty text.
type paths struct {
	parts []string // the text between the dots
	top   *paths   // PATH in PATH/...; nil without this suffix
}

// tree is a rule for packages.
type tree struct {
	paths
	noSuspend bool
}

func newPaths(pattern string) paths {
	p := paths{parts: strings.Split(pattern, "...")}
	if top, ok := strings.CutSuffix(pattern, "/..."); ok {
		above := newPaths(top)
		p.top = &above
	}
	return p
}

// MatchPath reports whether a pattern matches an import path.
func MatchPath(pattern, path string) bool { return newPaths(pattern).match(path) }

func (p paths) match(path string) bool {
	last := len(p.parts) - 1
	switch {
	case last == 0:
		return path == p.parts[0]
	case p.top != nil && p.top.match(path):
		return true
	case !strings.HasPrefix(path, p.parts[0]):
		return false
	}
	rest := path[len(p.parts[0]):]
	for _, part := range p.parts[1:last] {
		for !strings.HasPrefix(rest, part) {
			if rest == "" {
				return false
			}
			rest = rest[1:]
		}
		rest = rest[len(part):]
	}
	return strings.HasSuffix(rest, p.parts[last])
}
