package cocoon

import (
	"maps"
	"reflect"
	"runtime"
	"slices"

	"github.com/cocoon-go/cocoon/internal/keep"
)

// lookForKept finds the entries of never-unwind that match no function of the program: they are
// misspelt, or their code is not linked. It looks through the program once for each change of the
// entries: for some hundred milliseconds if an entry is unmet. Called without regMu.
func (rt *Runtime) lookForKept() {
	rt.regMu.Lock()
	set := rt.kept.Load()
	var rules []string
	if rt.keptSeen != set {
		for _, kept := range rt.documentsKeep {
			for _, k := range kept {
				rules = append(rules, k.Name)
			}
		}
	}
	rt.regMu.Unlock()
	if rules == nil {
		return
	}
	unmet := unlinked(rules)
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	rt.keptSeen, rt.keptUnmet = set, unmet
}

// unmetKept returns what lookForKept has found, as far as documents still have it. Called with
// regMu held.
func (rt *Runtime) unmetKept() (names []string) {
	for _, kept := range rt.documentsKeep {
		for _, k := range kept {
			if slices.Contains(rt.keptUnmet, k.Name) {
				names = append(names, k.Name)
			}
		}
	}
	return names
}

// unlinked returns the rules that match no function of the program.
func unlinked(rules []string) []string {
	left := map[string]*keep.Set{}
	for _, rule := range rules {
		left[rule] = keep.NewSet([]keep.Rule{{Pattern: rule}}, mainPath())
	}
	functions(func(name string) bool {
		for rule, set := range left {
			if kept, _ := set.Match(name); kept {
				delete(left, rule)
			}
		}
		return len(left) > 0
	})
	return slices.Sorted(maps.Keys(left))
}

// pcStep is the distance of the places at which functions looks, in bytes. No function takes less;
// a function that is inlined wherever it is called may, and functions may miss it.
const pcStep = 16

// functions calls visit with the names of the program's functions, as in stack traces, until visit
// returns false. A name may come several times. There is no list of functions at run time, so it
// asks for the function at each place of the program's code, which is one range.
func functions(visit func(name string) bool) {
	here := reflect.ValueOf(functions).Pointer()
	last := ""
	for _, step := range []int{pcStep, -pcStep} {
		for pc := here; ; pc += uintptr(step) {
			f := runtime.FuncForPC(pc)
			if f == nil {
				break
			}
			if name := f.Name(); name != last {
				if last = name; !visit(name) {
					return
				}
			}
		}
	}
}
