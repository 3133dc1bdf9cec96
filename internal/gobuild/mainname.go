package gobuild

import (
	"fmt"
	"strings"

	"github.com/cocoon-go/cocoon/instrument"
)

// checkMain returns an error for a limit that names a function of a main package as stack traces
// do, main.render. Its section has the package's import path, so the limit would never apply. If
// there is no such function, the name may belong to a task, or to a section in the source.
func checkMain(limited []string, g graph) error {
	for _, name := range limited {
		if !namesMain(name) {
			continue
		}
		function := strings.TrimPrefix(name, "main.")
		for _, p := range g {
			if p.Name == "main" && !p.DepOnly && instrument.Declared(p.sources())[function] {
				return fmt.Errorf("a policy limits %s; want the import path of the main package, as in %s.%s", name, p.path(), function)
			}
		}
	}
	return nil
}

func namesMain(function string) bool { return strings.HasPrefix(function, "main.") }
