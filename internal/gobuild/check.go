package gobuild

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// find lists the packages of the build, and fails if a pattern of -cocoon.pkgs matches none,
// because -gcflags accepts such a pattern. It returns the names of functions that the sources
// limit: in constants of the program's own packages, and in policy documents embedded there.
func (c *Command) find(ctx context.Context) (sections []string, err error) {
	keeps, err := c.allKeeps()
	if err != nil {
		return nil, err
	}
	memory := c.memory(keeps)
	if f, ok := recall(memory); ok {
		return f.Sections, nil
	}
	begin := time.Now()
	all, err := c.list(ctx)
	if err != nil {
		return nil, ctx.Err() // the go command itself reports wrong arguments better
	}
	for _, pattern := range c.patterns {
		if !always(pattern) && !slices.ContainsFunc(all, func(p listed) bool { return p.matches(pattern) }) {
			return nil, fmt.Errorf("-cocoon.pkgs: the pattern %s matches no package of this build; want one of those that go list -deps prints", pattern)
		}
	}
	looked, err := checkKeeps(append(keeps, c.embeddedKeeps(all)...), all)
	if err != nil {
		return nil, err
	}
	limited := c.limitedIn(all)
	if err := checkMain(limited, all); err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(limited, func(name string) bool {
		return !slices.ContainsFunc(packagesOf(name), all.has)
	})
	findings{names, append(c.line.watched(all), stampsOf(looked)...)}.remember(memory, begin)
	return names, nil
}

// limitedIn returns the names that the program's own packages limit.
func (c *Command) limitedIn(all graph) []string {
	names := limitsIn(all)
	for _, p := range all {
		if !p.isOwn() || c.Limited == nil {
			continue
		}
		for _, file := range p.documents() {
			if more, err := c.Limited(file); err == nil { // not every file is a policy document
				names = append(names, more...)
			}
		}
	}
	return names
}

// always reports whether a pattern is valid in any build.
func always(pattern string) bool { return pattern == "all" || pattern == "..." || pattern == "std" }
