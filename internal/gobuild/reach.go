package gobuild

import (
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/instrument"
)

// reach finds the functions that the tasks of a program may reach, by name: functions that code
// names, and methods called through interfaces. An interface call may reach any method of that name
// in a package with a reached function or type.
type reach struct {
	functions map[string]*instrument.FunctionGaps
	methods   map[string][]string // full names by method name
	called    map[string]bool     // names of methods called through interfaces
	packages  map[string]bool     // packages with a reached function or type
}

// findReached sets the distance of each function from a task, in calls. Tasks start where the named
// packages pass functions to Cocoon. If they pass other values with code, such as a handler, tasks
// also start at the functions that these packages pass to uninstrumented packages. If they pass
// nothing, a task may call any of their functions.
func findReached(all []PackageGaps) {
	r := reach{map[string]*instrument.FunctionGaps{}, map[string][]string{}, map[string]bool{}, map[string]bool{}}
	var tasks, passed, own []string
	hosts := false
	for i := range all {
		p := &all[i]
		for j := range p.Functions {
			f := &p.Functions[j]
			name := p.Path + "." + f.Func
			f.Distance = instrument.Unreached
			r.functions[name] = f
			if i := strings.LastIndexByte(f.Func, '.'); i >= 0 && !strings.Contains(f.Func[i:], ".func") {
				r.methods[f.Func[i+1:]] = append(r.methods[f.Func[i+1:]], name)
			}
			if p.Named {
				tasks, passed = append(tasks, f.Links.Tasks...), append(passed, f.Links.Passes...)
				hosts = hosts || f.Links.Hosts
				own = append(own, name)
			}
		}
	}
	if hosts {
		tasks = append(tasks, passed...)
	}
	if len(tasks) == 0 {
		tasks = own
	}
	r.from(tasks)
}

// from follows the links of the functions, the nearest first.
func (r *reach) from(names []string) {
	for distance := 0; len(names) > 0; distance++ {
		var next []string
		for _, name := range names {
			f := r.functions[name]
			if f == nil || f.Distance != instrument.Unreached {
				continue
			}
			f.Distance = distance
			next = append(next, f.Links.To...)
			for _, p := range append(f.Links.Types, packageOf(name)) {
				r.packages[p] = true
			}
			for _, m := range f.Links.Methods {
				r.called[m] = true
			}
		}
		names = append(next, r.dispatched()...)
	}
}

// dispatched returns the methods that interface calls may reach.
func (r *reach) dispatched() (names []string) {
	for method := range r.called {
		for _, name := range r.methods[method] {
			if r.packages[packageOf(name)] && r.functions[name].Distance == instrument.Unreached {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// packageOf returns the package of a function's name. The package's path may contain dots.
func packageOf(name string) string {
	slash := strings.LastIndexByte(name, '/') + 1
	if i := strings.Index(name, ".("); i >= 0 {
		return name[:i]
	}
	path, _, _ := strings.Cut(name[slash:], ".")
	return name[:slash] + path
}
