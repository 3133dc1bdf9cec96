package cocoon

import (
	"slices"
	"strings"
)

// The runtime recognises functions on stacks by the names that Go gives them. All these names stand
// here, and TestFramesExist looks for each in the source.

const (
	module     = "github.com/cocoon-go/cocoon/"
	ownPackage = module + "cocoon."

	slowPoint    = ownPackage + "answerFor" // the slow path of SafePoint
	taskBegins   = ownPackage + "(*strand).call"
	sectionBegin = ownPackage + "Section[" // of any type
	taskMark     = ownPackage + "taskMark" // sixteen functions, see mark.go

	goPanic = "runtime.gopanic"
	goPark  = "runtime.gopark"
	goExit  = "runtime.goexit" // the oldest frame
)

var (
	// ownFrames and ownPrefixes are functions of this module between a task's safe point and the
	// throw.
	ownFrames = []string{
		"cocoon.SafePoint", "cocoon.answerFor", "cocoon.Yield", "cocoon.Block", "cocoon.Wait",
		"cocoon.(*Handle).Wait", "cocoon.answer",
	}
	ownPrefixes = []string{
		"cocoon.(*strand)", "cocoon.(*Loop)", "cocoon.taskMark", "safepoint.",
		"cocoonhttp.(*", "cocoonhttp.flusher.", "cocoonhttp.hijacker.", "cocoonhttp.pusher.",
		"cocoongrpc.(*", "internal/tell.",
	}

	// guests are functions between a safe point in a WebAssembly guest and the guest's caller: those
	// of this module, and those of wazero.
	guests = []string{"cocoon.Section", "guest.(*activation)", "guest.(*Instance)", "guest.(*Thread)", "guest.atSafePoint"}
	engine = []string{"github.com/tetratelabs/wazero/"}

	callbacks   = []string{"runtime.cgocallback", "runtime.cgocallbackg"}
	preemptions = []string{"runtime.asyncPreempt", "runtime.asyncPreempt2"}

	// honouring are clients that end their work when its context ends: a query, or a call to
	// another server.
	honouring = []string{"database/sql.", "google.golang.org/grpc.", "modernc.org/sqlite", "zombiezen.com/go/sqlite"}
)

// ours reports whether a function lies between the task's safe point and the throw.
func ours(function string) bool {
	// what cocoon build inserts, in each package
	if strings.HasSuffix(function, "cocoon_poll") || strings.HasSuffix(function, "cocoon_answerNow") || strings.Contains(function, "cocoon_bulk") {
		return true
	}
	rest, found := strings.CutPrefix(function, module)
	return found && (slices.Contains(ownFrames, rest) || hasPrefixOf(ownPrefixes, rest))
}

func hasPrefixOf(prefixes []string, function string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(function, p) {
			return true
		}
	}
	return false
}

// ofGuest reports whether a function lies between a safe point in a guest and the guest's caller.
func ofGuest(function string) bool {
	rest, found := strings.CutPrefix(function, module)
	return found && hasPrefixOf(guests, rest) || hasPrefixOf(engine, function)
}

// honours reports whether the function, which must not be unwound, belongs to a client that ends
// its work when its context ends.
func honours(function string) bool { return hasPrefixOf(honouring, function) }

// isMark reports whether the function lies between call and the task's own function.
func isMark(function string) bool { return strings.HasPrefix(function, taskMark) }

// isCallback reports whether C has called the Go code above the frame.
func isCallback(function string) bool { return slices.Contains(callbacks, function) }

// isPreemption reports whether the function is the Go runtime's for stopping a goroutine.
func isPreemption(function string) bool { return slices.Contains(preemptions, function) }

// packageOf returns the package of a function's name. Only the last element of the path has its
// dots escaped.
func packageOf(function string) string {
	dot := strings.LastIndexByte(function, '/') + 1
	if i := strings.IndexByte(function[dot:], '.'); i >= 0 {
		return function[:dot+i]
	}
	return function
}
