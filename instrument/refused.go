package instrument

import "strings"

// module is the path of this module. Some of its packages never poll, see ours. The rest, for
// example examples, are ordinary programs.
const module = "github.com/cocoon-go/cocoon"

// refusal is a reason why packages never poll. A pattern with the suffix /... includes all packages
// below it.
type refusal struct{ pattern, why string }

const (
	slowPath = "it is Cocoon's own scheduler, which would preempt itself"
	adapter  = "it says itself where the tasks that call it have their safe points"
)

// ours are this module's packages that never poll.
var ours = []refusal{
	{"safepoint/...", slowPath},
	{"internal/...", slowPath},
	{"stubs/...", slowPath},
	{"notify/...", slowPath},
	{"policy/...", slowPath},
	{"analyzer/...", slowPath},
	{"isolate/...", slowPath},
	{"cocoon/...", slowPath},
	{"cocoonhttp/...", adapter},
	{"cocoonsql", adapter},
	{"cocoongrpc", adapter},
}

// refused are the standard library's packages that never poll.
var refused = []refusal{
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

// Refused returns the reason why a package is never instrumented, or "".
func Refused(path string, std bool) string {
	if !std {
		within, ok := strings.CutPrefix(path, module+"/")
		if !ok {
			return ""
		}
		return reason(ours, within)
	}
	if why := reason(refused, path); why != "" {
		return why
	}
	if strings.HasPrefix(path, "crypto") && strings.Contains(path, "internal") {
		return "the time it takes must not depend on anything, and its self-test runs in init"
	}
	return ""
}

// reason returns the first reason that applies, or "".
func reason(of []refusal, path string) string {
	for _, r := range of {
		if matches(r.pattern, path) {
			return r.why
		}
	}
	return ""
}

func matches(pattern, path string) bool {
	tree, isTree := strings.CutSuffix(pattern, "/...")
	return path == tree || isTree && strings.HasPrefix(path, tree+"/")
}
