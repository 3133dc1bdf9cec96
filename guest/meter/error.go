package meter

import (
	"fmt"
	"strings"
)

// An Error is a defect of a module, or a form of module that this package does not know.
type Error struct {
	Section  string // the section's name in the specification, as "code", or "" before the first
	Function int    // the index of the function in the module as it was, or -1
	Offset   int    // in bytes from the start of the module as it was
	Problem  string
}

// Error returns the problem with its place.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("meter: ")
	if e.Section != "" {
		fmt.Fprintf(&b, "%s section, ", e.Section)
	}
	if e.Function >= 0 {
		fmt.Fprintf(&b, "function %d, ", e.Function)
	}
	fmt.Fprintf(&b, "offset %#x: %s", e.Offset, e.Problem)
	return b.String()
}
