package main

import (
	"fmt"
	"net/http"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// mode is one way to run the server.
type mode struct {
	loadtest.Mode
	procs int // GOMAXPROCS for each core; 0: Go's own choice

	// open puts the mode's limits in front of the work, and records its actions. The mode cocoon
	// uses the folder for its operators, if it is not "". stop ends the mode.
	open func(work *http.ServeMux, did *actions, folder string) (limited http.Handler, stop func() error, err error)
}

// manyProcs serves the modes without Cocoon better than Go's default: with a P a core, requests
// wait unread behind running handlers, where no limiter sees them; then no limiter reaches half of
// its goodput. Of the values tried, from 1 to 16 a core, 8 serves all of them well. Cocoon's
// runtime sets its Ps itself.
const manyProcs = 8

var modes = []mode{
	{loadtest.Mode{Name: "plain", About: "net/http alone; a handler that sees many others raises an alarm"}, manyProcs, openPlain},
	{loadtest.Mode{Name: "semaphore", About: "a fixed number of requests at once, others wait for a while"}, manyProcs, openSemaphore},
	{loadtest.Mode{Name: "failsafe", About: "failsafe-go's adaptive limiter, with priorities"}, manyProcs, openFailsafe},
	{loadtest.Mode{Name: "gozero", About: "go-zero's adaptive shedder, and its second one for the critical class"}, manyProcs, openGoZero},
	{loadtest.Mode{Name: "cocoon", About: "the policies of policies.yaml"}, 0, openCocoon},
}

// env returns the environment of the mode's server, on the given number of cores. An empty
// GOMAXPROCS counts as unset.
func (m mode) env(cores int) string {
	if m.procs == 0 {
		return "GOMAXPROCS="
	}
	return fmt.Sprintf("GOMAXPROCS=%d", m.procs*cores)
}

// nothing is the stop function of modes that have nothing to stop.
func nothing() error { return nil }
