package loadtest

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Placement is the cores on which the server and the generator run. Without cores, the system
// places them.
type Placement struct{ Server, Generator []int }

// ServerCores returns how many cores the server can load.
func (p Placement) ServerCores() int {
	if len(p.Server) > 0 {
		return len(p.Server)
	}
	return runtime.NumCPU()
}

func (p Placement) String() string {
	if len(p.Server) == 0 {
		return "not pinned"
	}
	return fmt.Sprintf("server on core %v, generator on core %v", p.Server, p.Generator)
}

// Place parses the flag -cpus: "auto", "none", "N" for a server on N cores and a generator on all
// remaining cores, or "SERVER:GENERATOR". The note is the reason why auto pins nothing, or the
// effect of the placement on the figures.
func Place(flag string) (p Placement, note string, err error) {
	if flag == "none" {
		return Placement{}, "", nil
	}
	allowed, err := allowedCPUs()
	switch {
	case err != nil:
		return Placement{}, "", fmt.Errorf("-cpus %s: %w; none does without", flag, err)
	case flag == "auto" && len(allowed) == 0:
		return Placement{}, "processes cannot be pinned on " + runtime.GOOS + ": server and generator share the cores", nil
	case flag == "auto" && len(allowed) == 1:
		return Placement{}, "there is one core only: server and generator share it, so the generator delays what it measures", nil
	case flag == "auto":
		// The first and the last core: on most machines they are not two threads of the same core.
		return Placement{Server: allowed[len(allowed)-1:], Generator: allowed[:1]}, "", nil
	case len(allowed) == 0:
		return Placement{}, "", fmt.Errorf("-cpus %s: processes cannot be pinned on %s; leave the flag out", flag, runtime.GOOS)
	}
	if n, err := strconv.Atoi(flag); err == nil {
		return placeCores(n, allowed)
	}
	server, generator, ok := strings.Cut(flag, ":")
	if !ok {
		return Placement{}, "", fmt.Errorf(`-cpus %s: want a number of cores for the server, or SERVER:GENERATOR, each a list of cores like 0,2-3, or auto, or none`, flag)
	}
	if p.Server, err = parseCores(server, allowed); err == nil {
		p.Generator, err = parseCores(generator, allowed)
	}
	if err != nil {
		return Placement{}, "", fmt.Errorf("-cpus %s: %w", flag, err)
	}
	return p, "", nil
}

// placeCores gives the server the last n cores, and the generator the remaining ones. If none
// remain, the generator shares the server's.
func placeCores(n int, allowed []int) (p Placement, note string, err error) {
	others := len(allowed) - n
	switch {
	case n < 1 || others < 0:
		return p, "", fmt.Errorf("-cpus %d: this process may use %d cores; want 1 to %d", n, len(allowed), len(allowed))
	case others == 0:
		note = fmt.Sprintf("the server has all %d cores: the generator shares them, so it delays what it measures", n)
		return Placement{Server: allowed, Generator: allowed}, note, nil
	}
	return Placement{Server: allowed[others:], Generator: allowed[:others]}, "", nil
}

// parseCores parses a list of cores such as "0,2-3".
func parseCores(list string, allowed []int) (cores []int, err error) {
	for part := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, errFirst := strconv.Atoi(low)
		last, errLast := strconv.Atoi(high)
		if errFirst != nil || errLast != nil || last < first {
			return nil, fmt.Errorf("%q is not a list of cores like 0,2-3", list)
		}
		for core := first; core <= last; core++ {
			if !slices.Contains(allowed, core) {
				return nil, fmt.Errorf("core %d is not there for this process; want some of %v", core, allowed)
			}
			if !slices.Contains(cores, core) {
				cores = append(cores, core)
			}
		}
	}
	return cores, nil
}
