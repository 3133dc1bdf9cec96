package main

import "github.com/cocoon-go/cocoon/internal/loadtest"

// mode is one way to run the server.
type mode struct {
	loadtest.Mode
	scans bool     // whether there are scans
	env   []string // of the server process
	open  func(*store) (service, error)
}

// modes are the modes in order. An empty GOMAXPROCS counts as unset: Go then uses the cores of the
// process.
var modes = []mode{
	{loadtest.Mode{Name: "idle", About: "no scans"}, false, []string{"GOMAXPROCS="}, openPlain},
	{loadtest.Mode{Name: "plain", About: "net/http alone"}, true, []string{"GOMAXPROCS="}, openPlain},
	{loadtest.Mode{Name: "gomaxprocs", About: "net/http with GOMAXPROCS=8"}, true, []string{"GOMAXPROCS=8"}, openPlain},
	{loadtest.Mode{Name: "cocoon", About: "scans are preemptible, gets are safe"}, true, []string{"GOMAXPROCS="}, openHybrid},
	{loadtest.Mode{Name: "keepprocs", About: "the same with Config.KeepProcs; only if -modes names it", Extra: true}, true, []string{"GOMAXPROCS="}, openKept},
}
