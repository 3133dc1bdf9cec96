package loadtest

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Confine moves this process to the given cores, with all its threads and later ones, until release
// is called. Without cores it does nothing. Children started meanwhile with their own cores get
// those cores.
func Confine(cores []int) (release func() error, err error) {
	if len(cores) == 0 {
		return func() error { return nil }, nil
	}
	var before, wanted unix.CPUSet
	if err := unix.SchedGetaffinity(os.Getpid(), &before); err != nil {
		return nil, fmt.Errorf("sched_getaffinity: %w", err)
	}
	for _, core := range cores {
		wanted.Set(core)
	}
	if err := moveThreads(&wanted); err != nil {
		return nil, errors.Join(fmt.Errorf("to cores %v: %w", cores, err), moveThreads(&before))
	}
	return func() error { return moveThreads(&before) }, nil
}

// moveThreads moves all threads. A new thread has the affinity of the thread that creates it, which
// may not have been moved yet; so moveThreads repeats until there is nothing to do.
func moveThreads(to *unix.CPUSet) error {
	for moved := true; moved; {
		moved = false
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return err
		}
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil {
				return err
			}
			var now unix.CPUSet
			err = unix.SchedGetaffinity(id, &now)
			if err == nil && now != *to {
				moved, err = true, unix.SchedSetaffinity(id, to)
			}
			if err != nil && !errors.Is(err, unix.ESRCH) { // ESRCH: the thread has ended
				return fmt.Errorf("the affinity of thread %d: %w", id, err)
			}
		}
	}
	return nil
}
