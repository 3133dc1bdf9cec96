package instrument

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// heldCalls returns the calls that tell package safepoint where in this package locks are held, or
// goroutines are owed, for what is called there and polls. There is at least one: it tells that the
// program is rewritten.
func (r *rewriter) heldCalls(name string) string {
	lines := map[string][]int{}
	for _, c := range r.codes {
		for _, h := range slices.Concat(c.held, c.owed) {
			from, to := r.set.Position(h.from), r.set.Position(h.to)
			if from.Filename == to.Filename { // no line directive in between
				file := filepath.Base(from.Filename)
				lines[file] = append(lines[file], from.Line, max(from.Line, to.Line))
			}
		}
	}
	packages := []string{symbolPath(r.pkg.Path)}
	if name == "main" && packages[0] != name {
		packages = append(packages, name) // as a program; as a tested package it has its path
	}
	var calls strings.Builder
	for _, pkg := range packages {
		if len(lines) == 0 {
			fmt.Fprintf(&calls, "\t%s(%q, \"\", nil)\n", r.name("hold"), pkg)
		}
		for _, file := range slices.Sorted(maps.Keys(lines)) {
			fmt.Fprintf(&calls, "\t%s(%q, %q, %#v)\n", r.name("hold"), pkg, file, lines[file])
		}
	}
	return calls.String()
}

// symbolPath returns the package's path as the names of its functions have it: with the dots of its
// last element escaped, so that the first dot behind it is that before the function.
func symbolPath(path string) string {
	slash := strings.LastIndexByte(path, '/') + 1
	var out strings.Builder
	for i := range len(path) {
		switch b := path[i]; {
		case b <= ' ', b == '.' && i >= slash, b == '%', b == '"', b >= 0x7f:
			fmt.Fprintf(&out, "%%%02x", b)
		default:
			out.WriteByte(b)
		}
	}
	return out.String()
}
