package cocoon

import (
	"runtime/debug"
	"slices"
	"sync"

	"github.com/cocoon-go/cocoon/internal/keep"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/safepoint"
)

// libraries are the functions of known libraries that must not be unwound. They count in rewritten
// programs: elsewhere only the author's own calls are safe points.
var libraries = keep.NewSet(keep.Rules(), "")

// builtKept are the functions that the program's build has named.
var builtKept = sync.OnceValue(func() []keep.Rule {
	var rules []keep.Rule
	for _, text := range safepoint.Kept() {
		rule, err := keep.Parse(text)
		if err != nil {
			panic("cocoon: -cocoon.keep " + err.Error()) // the build has checked it
		}
		rules = append(rules, rule)
	}
	return rules
})

// mainPath is the import path of the main package.
var mainPath = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return info.Path
})

// keepNow puts the rules of the build and of the documents in force. Called with regMu held.
func (rt *Runtime) keepNow() {
	rules := slices.Clone(builtKept())
	for _, kept := range rt.documentsKeep {
		for _, k := range kept {
			rules = append(rules, keep.Rule{Pattern: k.Name, NoSuspend: k.NoSuspend})
		}
	}
	var set *keep.Set
	if len(rules) > 0 {
		set = keep.NewSet(rules, mainPath())
	}
	rt.kept.Store(set)
}

// keepFor replaces the kept functions of one document by those of another. Called with regMu held.
func (rt *Runtime) keepFor(was, is *document.Document) {
	delete(rt.documentsKeep, was)
	if len(is.NeverUnwind) > 0 {
		rt.documentsKeep[is] = is.NeverUnwind
		rt.speaks.Store(true)
		defer rt.listen(notify.Now())
	}
	if len(was.NeverUnwind)+len(is.NeverUnwind) > 0 {
		rt.keepNow()
	}
}

// keeps reports whether a throw must not unwind a function, and whether the task must not be
// suspended in there, either. rewritten says that the program is.
func (rt *Runtime) keeps(function string, rewritten bool) (kept, noSuspend bool) {
	kept, noSuspend = rt.kept.Load().Match(function)
	if rewritten && !noSuspend {
		known, noSuspendKnown := libraries.Match(function)
		return kept || known, noSuspendKnown
	}
	return kept, noSuspend
}
