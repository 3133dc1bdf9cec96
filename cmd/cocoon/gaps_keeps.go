package main

import (
	"context"
	"fmt"
	"io"
)

// keptPlace is code that a throw does not unwind. The JSON form is for programs: existing names do
// not change, and new ones may be added.
type keptPlace struct {
	Packages  []string `json:"packages"`
	Pattern   string   `json:"pattern,omitempty"`  // of a rule
	Function  string   `json:"function,omitempty"` // of a stretch of a function
	File      string   `json:"file,omitempty"`
	Line      int      `json:"line,omitempty"`
	NoSuspend bool     `json:"no_suspend"`
	By        string   `json:"by"`
	Reason    string   `json:"reason,omitempty"`
}

// keeps prints the code that the program does not unwind: first the rules, then the places that the
// text shows.
func (o *gapsOptions) keeps(args []string, s streams) error {
	c, err := goCommand("build", args)
	if err != nil {
		return err
	}
	c.Stderr = s.err
	found, err := c.Keeps(context.Background())
	if err != nil {
		return err
	}
	all := []keptPlace{}
	for _, k := range found {
		if k.By == "text" && !k.Named && !o.deps {
			continue
		}
		all = append(all, keptPlace{k.Packages, k.Pattern, k.At.Func, k.At.Pos.Filename, k.At.Pos.Line, k.NoSuspend, k.By, k.At.Why})
	}
	return show(s.out, *o, all, keptPlace.print)
}

func (k keptPlace) print(w io.Writer) {
	reason := ""
	if k.Reason != "" {
		reason = ": " + k.Reason
	}
	if k.Pattern == "" {
		fmt.Fprintf(w, "%s:%d  %s.%s%s\n", nearby(k.File), k.Line, k.Packages[0], k.Function, reason)
		return
	}
	what := "not unwound"
	if k.NoSuspend {
		what = "not unwound or suspended"
	}
	by := k.By
	if by == "library" {
		by = "the list of libraries"
	}
	fmt.Fprintf(w, "%s  %s, by %s%s\n", k.Pattern, what, by, reason)
}
