package main

import "github.com/cocoon-go/cocoon/internal/loadtest"

// mode is one way to run the server.
type mode struct {
	loadtest.Mode
	attacks bool // whether there are attacks
	open    func() (service, error)
}

var modes = []mode{
	{loadtest.Mode{Name: "idle", About: "no attacks"}, false, openPlain},
	{loadtest.Mode{Name: "plain", About: "net/http alone"}, true, openPlain},
	{loadtest.Mode{Name: "cocoon", About: "a match may take " + limit.String()}, true, func() (service, error) { return openHybrid(limit) }},
}
