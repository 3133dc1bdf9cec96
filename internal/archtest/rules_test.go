// Package archtest enforces the import rules of docs/design.md ("Layout and who may import whom").
// It contains only tests.
package archtest

import "strings"

const module = "github.com/cocoon-go/cocoon"

// below lists the packages of this module that each package of this module may import. A key ending
// in "/" stands for all packages below that folder. "*" stands for every package except commands
// and examples.
var below = map[string]string{
	"safepoint":           "",
	"internal/sched":      "",
	"internal/sketch":     "",
	"internal/keyed":      "",
	"internal/decisions":  "",
	"internal/goroutine":  "",
	"internal/fromc":      "", // for tests of cocoon
	"internal/inside":     "",
	"internal/keep":       "",
	"internal/filenotify": "",
	"internal/kernel":     "",
	"internal/gaprecord":  "",
	"stubs":               "",
	"notify":              "internal/goroutine",
	"internal/snippet":    "",
	"internal/ir":         "internal/snippet stubs",
	"internal/ir/irtest":  "internal/ir stubs", // for tests
	"internal/lang":       "internal/snippet internal/ir stubs",
	"policy":              "internal/ir internal/lang stubs",
	"policy/document":     "internal/keep internal/snippet internal/ir internal/lang stubs policy",
	"analyzer":            "internal/ir internal/lang stubs policy policy/document",
	"isolate":             "internal/ir stubs analyzer",
	"internal/states":     "internal/keyed internal/ir stubs policy",
	"policytest":          "internal/keyed internal/ir internal/lang stubs policy policy/document analyzer isolate",
	"cocoon":              "safepoint internal/sched internal/sketch internal/states internal/decisions internal/goroutine internal/fromc internal/filenotify internal/inside internal/gaprecord internal/keep internal/kernel internal/ir internal/lang stubs notify policy policy/document analyzer isolate",
	"internal/tell":       "safepoint internal/goroutine internal/inside cocoon",
	"cocoonhttp":          "safepoint internal/goroutine internal/inside internal/tell stubs notify policy analyzer isolate cocoon",
	"cocoonsql":           "cocoon internal/inside",
	"cocoondebug":         "cocoon internal/inside",
	"analyzer/vet":        "internal/ir internal/lang stubs policy policy/document analyzer", // it knows cocoon by name only
	"instrument":          "",                                                                // as above
	"guest/meter":         "",                                                                // bytes in, bytes out
	"guest":               "safepoint internal/goroutine internal/inside notify cocoon guest/meter",
	"internal/gobuild":    "instrument internal/keep",
	"internal/metrics":    "cocoon",
	"cmd/":                "*",
	"internal/loadtest":   "", // the common part of examples and bench
	"internal/longtest":   "", // for tests
	"internal/tasktest":   "cocoon",
	"examples/":           "*",
}

// thirdParty lists the modules that may be imported, and by which packages.
var thirdParty = map[string]string{
	"github.com/expr-lang/expr":     "internal/lang",
	"gopkg.in/yaml.v3":              "policy/document",
	"github.com/tetratelabs/wazero": "isolate guest cmd/ examples/",
	"golang.org/x/tools":            "analyzer/vet instrument cmd/",
	"golang.org/x/exp":              "cmd/",
	"golang.org/x/term":             "cmd/",
	"github.com/fsnotify/fsnotify":  "internal/filenotify",
	"golang.org/x/sys":              "notify cocoon internal/kernel internal/loadtest examples/",
	"go.etcd.io/bbolt":              "examples/",
	"github.com/dlclark/regexp2":    "examples/",
}

// pure lists packages that may import only these packages of the standard library.
var pure = map[string]string{
	"safepoint":          "sync/atomic",
	"internal/sched":     "errors fmt math math/bits cmp slices strings iter container/heap container/list",
	"internal/sketch":    "math math/bits",
	"internal/keyed":     "math math/bits sync/atomic time",
	"internal/decisions": "sync/atomic",
}

// allows reports whether a list of rules names pkg, or a folder above it.
func allows(list, pkg string) bool {
	for rule := range strings.FieldsSeq(list) {
		if matches(rule, pkg) {
			return true
		}
	}
	return false
}

func matches(rule, pkg string) bool {
	switch {
	case rule == "*":
		return !strings.HasPrefix(pkg, "cmd/") && !strings.HasPrefix(pkg, "examples/")
	case strings.HasSuffix(rule, "/"):
		return strings.HasPrefix(pkg, rule)
	}
	return rule == pkg
}

// ruleFor returns the row of below for pkg.
func ruleFor(pkg string) (allowed string, ok bool) {
	for row, allowed := range below {
		if matches(row, pkg) {
			return allowed, true
		}
	}
	return "", false
}

// within reports whether an import path is in the module.
func within(module, path string) bool {
	return path == module || strings.HasPrefix(path, module+"/")
}
