package cocoondebug

import (
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/cocoon"
)

// canaries puts the canaries in force into a snapshot.
func (s *Snapshot) canaries(st cocoon.Stats) {
	all := []Canary{}
	for _, file := range slices.Sorted(maps.Keys(st.Documents)) {
		if c := st.Documents[file].Canary; c != nil {
			all = append(all, Canary{cut(file, maxName), c.Share, cut(c.By, maxName), c.Since, c.Throws, sideOf(c.Cohort), sideOf(c.Rest)})
		}
	}
	s.Canaries, s.MoreCanaries = first(all, maxCanaries)
}

func sideOf(s cocoon.CanarySide) CanarySide {
	return CanarySide{s.Ended, s.Failed, s.Queueing.Quantile(0.99)}
}

// Sides returns the sides of the canary with their names, for the page.
func (c Canary) Sides() []namedSide {
	return []namedSide{{"canary", c.Cohort}, {"the rest", c.Rest}}
}

// namedSide is a row of the page.
type namedSide struct {
	Name string
	CanarySide
}
