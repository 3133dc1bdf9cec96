package cocoondebug

import (
	"strings"
	"unicode/utf8"
)

// The bounds of a snapshot.
const (
	maxLoops    = 16
	maxSlots    = 16 // on the time line of a loop
	maxSampled  = 64 // slots of a loop that are looked at for the shares of names
	maxLine     = 32 // names on the time line of a loop
	maxTenants  = 32 // of a loop
	maxNames    = 32
	maxLooked   = 256 // tasks of a loop that a snapshot looks at
	maxTasks    = 100
	maxStack    = 8 // names of an asynchronous stack
	maxPolicies = 64
	maxWarnings = 8
	maxCanaries = 16
	maxStates   = 64
	maxGaps     = 20
	maxUnmet    = 20
	maxCounted  = 1024 // names whose throws are counted in each tick

	maxName = 128  // bytes of a name
	maxText = 4096 // bytes of a policy's text
)

// cut returns a text as valid UTF-8 of at most so many bytes. What it returns does not keep a
// longer text in memory.
func cut(s string, most int) string {
	if len(s) > most {
		n := most - len("…")
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n] + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// first returns the first elements of a list, and how many more there are.
func first[T any](list []T, most int) ([]T, int) {
	n := min(len(list), most)
	return list[:n:n], len(list) - n
}
