package kernel

import (
	"os"
	"runtime"
	"strconv"
	"testing"
)

// If GOMAXPROCS was Go's choice, it is so again afterwards: Go goes on following the limits of the
// process. If the application had chosen it, that value is restored.
func TestGOMAXPROCSGoesBackToItsOwner(t *testing.T) {
	if os.Getenv("GOMAXPROCS") != "" {
		t.Skip("the environment has chosen")
	}
	defer runtime.SetDefaultGOMAXPROCS()
	runtime.SetDefaultGOMAXPROCS()
	n := runtime.GOMAXPROCS(0)
	for own, want := range map[int]bool{n: true, n + 3: false} {
		if own != n {
			runtime.GOMAXPROCS(own)
		}
		AddProcs(own)
		if procs.follows != want || procs.own != own {
			t.Errorf("GOMAXPROCS is %d: taken for %d, for Go's choice: %v", own, procs.own, procs.follows)
		}
		if got := runtime.GOMAXPROCS(0); got != own+SparePs {
			t.Errorf("GOMAXPROCS is %d while %d slots are hot; want %d", got, own, own+SparePs)
		}
		AddProcs(-own)
		if got := runtime.GOMAXPROCS(0); got != own {
			t.Errorf("GOMAXPROCS was %d and is %d", own, got)
		}
		runtime.SetDefaultGOMAXPROCS()
	}
	t.Setenv("GOMAXPROCS", strconv.Itoa(n))
	AddProcs(n)
	defer AddProcs(-n)
	if procs.follows {
		t.Error("the environment's choice is taken for Go's")
	}
}
