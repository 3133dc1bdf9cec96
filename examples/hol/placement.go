package main

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// placement is which cores the server and the generator run on. Without cores they run where the system puts them.
type placement struct{ server, generator []int }

// serverCores returns how many cores the server can load.
func (p placement) serverCores() int {
	if len(p.server) > 0 {
		return len(p.server)
	}
	return runtime.NumCPU()
}

func (p placement) String() string {
	if len(p.server) == 0 {
		return "not pinned"
	}
	return fmt.Sprintf("server on core %v, generator on core %v", p.server, p.generator)
}

// place reads the flag -cpus: "auto", "none" or "SERVER:GENERATOR". The note says why auto pins nothing.
func place(flag string) (p placement, note string, err error) {
	if flag == "none" {
		return placement{}, "", nil
	}
	allowed, err := allowedCPUs()
	switch {
	case err != nil:
		return placement{}, "", fmt.Errorf("-cpus %s: %w; none does without", flag, err)
	case flag == "auto" && len(allowed) == 0:
		return placement{}, "processes cannot be pinned on " + runtime.GOOS + ": server and generator share the cores", nil
	case flag == "auto" && len(allowed) == 1:
		return placement{}, "there is one core only: server and generator share it, so the generator delays what it measures", nil
	case flag == "auto":
		// The first and the last: on most machines not two threads of the same core.
		return placement{server: allowed[len(allowed)-1:], generator: allowed[:1]}, "", nil
	case len(allowed) == 0:
		return placement{}, "", fmt.Errorf("-cpus %s: processes cannot be pinned on %s; want none", flag, runtime.GOOS)
	}
	server, generator, ok := strings.Cut(flag, ":")
	if !ok {
		return placement{}, "", fmt.Errorf(`-cpus %s: want SERVER:GENERATOR, each a list of cores like 0,2-3, or auto, or none`, flag)
	}
	if p.server, err = parseCores(server, allowed); err == nil {
		p.generator, err = parseCores(generator, allowed)
	}
	if err != nil {
		return placement{}, "", fmt.Errorf("-cpus %s: %w", flag, err)
	}
	return p, "", nil
}

// parseCores reads a list of cores like "0,2-3".
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
