package gobuild

import (
	"slices"
	"strings"
)

// isNear reports whether a function may be meant by a rule's name of another one: it has the same
// letters, or its type does if the rule names all methods.
func isNear(declared, name string) bool {
	letters := strings.NewReplacer("(*", "", ")", "")
	declared, name = letters.Replace(declared), letters.Replace(name)
	if of, isType := strings.CutSuffix(name, ".*"); isType {
		name = of
		declared, _, _ = strings.Cut(declared, ".")
	}
	return strings.EqualFold(declared, name)
}

// nearIn returns the packages that the rule may mean: the text before a dot of the pattern is the
// end of their path, or main, which is not their name in a test.
func (k Keep) nearIn(g graph) (all []string) {
	for _, p := range g {
		for _, path := range append(packagesOf(k.Pattern), k.Pattern) {
			isMain := path == "main" && p.Name == "main" && !p.DepOnly && !strings.HasSuffix(p.path(), ".test")
			if isMain || strings.HasSuffix(strings.ToLower("/"+p.path()), strings.ToLower("/"+path)) {
				all = append(all, p.path()+strings.TrimPrefix(k.Pattern, path))
			}
		}
	}
	return all
}

// oneOf lists at most three different names for an error, or says instead what a name looks like.
func oneOf(names []string, instead string) string {
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 || len(names) > 3 {
		return instead
	}
	return strings.Join(names, " or ")
}
