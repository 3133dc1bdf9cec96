package policy

import (
	"fmt"
	"time"
)

// Location returns the zone in which the policy reads the clock, UTC by default. The server's local
// zone cannot be named, because it differs between servers.
func (s Spec) Location() (*time.Location, error) { return location(s.Zone, time.LoadLocation) }

func location(zone string, load func(string) (*time.Location, error)) (*time.Location, error) {
	switch zone {
	case "", "UTC":
		return time.UTC, nil
	case "Local":
		return nil, fmt.Errorf("the zone %q is another on each server; write its name, as in Europe/Berlin", zone)
	}
	if zone[0] >= 'A' && zone[0] <= 'Z' { // other files are the system's own, such as localtime
		if at, err := load(zone); err == nil {
			return at, nil
		}
	}
	if _, missing := load("Europe/London"); missing != nil {
		return nil, fmt.Errorf("the zone %q is not known, because there is no database of time zones; install tzdata, or import time/tzdata into the program", zone)
	}
	return nil, fmt.Errorf("there is no zone %q; write a name of the IANA database, as in Europe/Berlin", zone)
}
