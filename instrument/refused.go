package instrument

import "strings"

// module is this one. Its own packages are what a poll's slow path runs through, or say themselves where their safe points are;
// the rest, examples for one, are programs like any other.
const module = "github.com/cocoon-go/cocoon"

var ours = []string{
	"safepoint/...", "internal/...", "stubs/...", "notify/...", "policy/...", "analyzer/...", "isolate/...", "cocoon/...",
	"cocoonhttp/...", "cocoonsql", "cocoongrpc", "guest/...",
}

// refused are the standard library's packages that never poll. A pattern ends in /... for all that is below it too.
var refused = []struct{ pattern, why string }{
	{"runtime/...", "the runtime runs where no goroutine can be stopped, and the poll's slow path is built on it"},
	{"internal/...", "the runtime and the poll's slow path are built on it"},
	{"sync/...", "a lock or an atomic that is stopped half-way stops all who wait for it, the slow path too"},
	{"unsafe", "it has no code"},
	{"syscall", "it runs between the scheduler and the kernel, where a goroutine must not stop"},
	{"os/signal", "signals are handled where a goroutine must not stop"},
	{"builtin", "it has no code"},
	{"C", "it has no Go code"},
	{"iter", "its coroutines switch goroutines half-way, and the slow path would see the wrong one"},
	{"reflect", "its calls build frames by hand, which must not be unwound"},
	{"weak", "it is part of the garbage collector"},
	{"unique", "it is part of the garbage collector"},
	{"plugin", "it loads packages under the runtime's locks"},
	{"vendor/...", "it is the standard library's own copy, reached by names that no pattern has"},
	{"cmd/...", "it is the go command's own"},
}

// Refused says why a package is never instrumented, or "".
func Refused(path string, std bool) string {
	if !std {
		for _, pattern := range ours {
			if matches(module+"/"+pattern, path) {
				return "it is Cocoon's own scheduler, which would preempt itself"
			}
		}
		return ""
	}
	for _, r := range refused {
		if matches(r.pattern, path) {
			return r.why
		}
	}
	if strings.HasPrefix(path, "crypto") && strings.Contains(path, "internal") {
		return "the time it takes must not depend on anything, and its self-test runs in init"
	}
	return ""
}

func matches(pattern, path string) bool {
	tree, isTree := strings.CutSuffix(pattern, "/...")
	return path == tree || isTree && strings.HasPrefix(path, tree+"/")
}
