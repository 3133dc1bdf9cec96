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

	// what cocoon build adds to each package; more may stand in front of these names
	insertedPoll   = "cocoon_poll"
	insertedAnswer = "cocoon_answerNow"
	insertedBulk   = "cocoon_bulk" // several functions begin so

	deferredCall = ".deferwrap" // the compiler's function for a deferred call with arguments
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

	// honouring are clients that end their work when its context ends, and lose nothing by that:
	// databases in the process, and calls of other servers. A driver that database/sql calls may
	// lose its connection.
	honouring = []string{"google.golang.org/grpc.", "modernc.org/sqlite", "zombiezen.com/go/sqlite"}

	// unwindable are packages: a throw passes their locks if deferred calls release them.
	// docs/safepoints.md has the reason for each.
	unwindable = []string{
		// Compiled.lock guards the globals of a script, and Abort leaves them in the same state
		"github.com/d5/tengo/v2",
	}
)

// ours reports whether a function lies between the task's safe point and the throw.
func ours(function string) bool {
	if isInserted(function) {
		return true
	}
	rest, found := strings.CutPrefix(function, module)
	return found && (slices.Contains(ownFrames, rest) || hasPrefixOf(ownPrefixes, rest))
}

func isInserted(function string) bool {
	return strings.HasSuffix(function, insertedPoll) || strings.HasSuffix(function, insertedAnswer) ||
		strings.Contains(function, insertedBulk)
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

// isDeferred reports whether the function only makes a deferred call.
func isDeferred(function string) bool { return strings.Contains(function, deferredCall) }

// ofRuntime reports whether the function belongs to Go's runtime, without the packages below it.
func ofRuntime(function string) bool { return strings.HasPrefix(function, "runtime.") }

// ofGo reports whether the function belongs to Go's runtime or to a package that only the standard
// library may import.
func ofGo(function string) bool {
	return ofRuntime(function) || strings.HasPrefix(function, "internal/")
}

// packageOf returns the package of a function's name. Only the last element of the path has its
// dots escaped.
func packageOf(function string) string {
	dot := strings.LastIndexByte(function, '/') + 1
	if i := strings.IndexByte(function[dot:], '.'); i >= 0 {
		return function[:dot+i]
	}
	return function
}
