package lang

import (
	"errors"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/ir"
)

// Who writes the words of another language learns those of policies: each hint holds, and so do the
// texts that follow it.
func TestForeignWords(t *testing.T) {
	for _, c := range []struct{ text, hint, follows string }{
		{`task.name.startsWith("a") ? switch() : continue()`, `write task.name in pattern("a*")`, `task.name in pattern("a*") ? switch() : continue()`},
		{`task.name startsWith "GET *" ? switch() : continue()`, `write x in pattern("GET \\**")`, `task.name in pattern("GET \\**") ? switch() : continue()`},
		{`task.labels.path.endsWith("/health") ? switch() : continue()`, `write task.labels.path in pattern("*/health")`, `task.labels.path in pattern("*/health") ? switch() : continue()`},
		{`task.name.contains("adm") ? switch() : continue()`, `write task.name in pattern("*adm*")`, ""},
		{`task.name.contains(task.section) ? switch() : continue()`, `write x in pattern("a*"), in which`, ""},
		{`startsWith(task.name, "a") ? switch() : continue()`, `write x in pattern("a*")`, ""},
		{`hasPrefix(task.name, "a") ? switch() : continue()`, `write x in pattern("a*"), in which`, ""},
		{`task.name.matches("a.*") ? switch() : continue()`, "regular expressions have no bound", ""},
		{`task.stack.size() > 3 ? switch() : continue()`, "write queue.length, or count(task.stack, true)", `count(task.stack, true) > 3 ? switch() : continue()`},
		{`task.name.size() > 3 ? switch() : continue()`, "names have no length", ""},
		{`has(task.labels.user) ? switch() : continue()`, "write task.labels.NAME != \"\"", `task.labels.user != "" ? switch() : continue()`},
		{`task.cancelled ? deny() : allow()`, `write throw("reason")`, ""},
		{`task.cancelled ? throw("gone") : allow()`, "write continue()", ""},
		{`task.cancelled ? drop("gone") : continue()`, `write throw("reason")`, ""},
		{`task.cancelled ? allow : deny`, "write continue()", ""},
		{`request.path.startsWith("/a") ? switch() : continue()`, "write task.name, or arriving.name on enqueue", ""},
		{`input.method == "GET" ? switch() : continue()`, "the rest of a request is in labels", ""},
		{`task.stack.exists(x, x == "a") ? switch() : continue()`, "write any", ""},
		{`default allow = false`, "a policy is one expression", ""},
		{`allow { input.x == 1 }`, "a policy is one expression", ""},
		{`task.running > duration("1s") ? demote() : continue()`, "write background()", ""},
		{`glob.match("a*", [], task.name) ? switch() : continue()`, `write x in pattern("a*")`, ""},
		{`task.priority.clamp(1, 2) > 1 ? switch() : continue()`, "write clamp(task.priority, ...)", `clamp(task.priority, 1, 2) > 1 ? switch() : continue()`},
		{`task.running.seconds() > 1 ? switch() : continue()`, `divide by a unit, as in x / duration("1s")`, `task.running / duration("1s") > 1 ? switch() : continue()`},
		{`timestamp("2026-01-01T00:00:00Z") > 1 ? switch() : continue()`, "write clock.hour", ""},
		{`"user" in task.labels ? switch() : continue()`, `write task.labels["user"] != ""`, ""},
	} {
		var e *ir.Error
		if _, err := Parse(c.text, testEnv); !errors.As(err, &e) || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%s\n%v\nwant the hint %q", c.text, err, c.hint)
		}
		if c.follows == "" {
			continue
		}
		if _, err := Parse(c.follows, testEnv); err != nil {
			t.Errorf("who follows the hint for %s: %v", c.text, err)
		}
	}
}
