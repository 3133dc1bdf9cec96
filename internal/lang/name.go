package lang

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cocoon-go/cocoon/stubs"
)

// CheckName refuses a name that cannot be a string constant.
func CheckName(what, name string) error {
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	switch {
	case name == "":
		return fmt.Errorf("%s is empty", what)
	case len(name) > stubs.MaxName:
		return fmt.Errorf("%s has %d bytes, and %d are allowed", what, len(name), stubs.MaxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, control):
		return fmt.Errorf("%s %q is not printable text", what, name)
	}
	return nil
}

// KindNames are the kinds of tasks, as errors list them.
const KindNames = `"atomic", "preemptible", "safe" or "both"`

// KnownKind reports whether a kind of tasks has the name.
func KnownKind(name string) bool { return slices.Contains(stubs.KindNames[:], name) }
