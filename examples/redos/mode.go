package main

import (
	"fmt"
	"slices"
	"strings"
)

// mode is one way to run the server.
type mode struct {
	name    string
	about   string
	attacks bool // whether there are any
	open    func() (service, error)
}

var modes = []mode{
	{"idle", "no attacks", false, openPlain},
	{"plain", "net/http alone", true, openPlain},
	{"cocoon", "a match may take " + limit.String(), true, func() (service, error) { return openHybrid(limit) }},
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
