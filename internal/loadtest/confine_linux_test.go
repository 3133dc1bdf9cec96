package loadtest

import (
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// affinities returns the cores on which the threads of this process may run.
func affinities(t *testing.T) (all []unix.CPUSet) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			t.Fatal(err)
		}
		var set unix.CPUSet
		if unix.SchedGetaffinity(id, &set) == nil {
			all = append(all, set)
		}
	}
	return all
}

// TestConfine checks that all threads move, and move back.
func TestConfine(t *testing.T) {
	allowed, err := allowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	for _, cores := range [][]int{allowed[:1], nil} {
		release, err := Confine(cores)
		if err != nil {
			t.Fatal(err)
		}
		if cores == nil {
			cores = allowed
		}
		for _, set := range affinities(t) {
			if set.Count() != len(cores) || !set.IsSet(cores[0]) {
				t.Errorf("confined to %v, a thread may run on %d cores", cores, set.Count())
			}
		}
		if err := release(); err != nil {
			t.Fatal(err)
		}
		for _, set := range affinities(t) {
			if set.Count() != len(allowed) {
				t.Errorf("released, a thread may run on %d cores; want %v", set.Count(), allowed)
			}
		}
	}
	if _, err := Confine([]int{1000}); err == nil {
		t.Error("confined to a core that is not there")
	}
}
