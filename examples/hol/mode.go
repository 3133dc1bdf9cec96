package main

import (
	"fmt"
	"slices"
	"strings"
)

// mode is one way to run the server.
type mode struct {
	name  string
	about string
	scans bool     // whether there are any
	env   []string // of the server process
	open  func(*store) (service, error)
}

// An empty GOMAXPROCS is none: Go takes the number of cores it was given.
var modes = []mode{
	{"idle", "no scans", false, []string{"GOMAXPROCS="}, openPlain},
	{"plain", "net/http alone", true, []string{"GOMAXPROCS="}, openPlain},
	{"gomaxprocs", "net/http with GOMAXPROCS=8", true, []string{"GOMAXPROCS=8"}, openPlain},
	{"cocoon", "scans are preemptible, gets are safe", true, []string{"GOMAXPROCS="}, openHybrid},
}

func modeNames() []string {
	var names []string
	for _, m := range modes {
		names = append(names, m.name)
	}
	return names
}

func modeNamed(name string) (mode, error) {
	i := slices.IndexFunc(modes, func(m mode) bool { return m.name == name })
	if i < 0 {
		return mode{}, fmt.Errorf("no mode is named %q; there are %s", name, strings.Join(modeNames(), ", "))
	}
	return modes[i], nil
}
