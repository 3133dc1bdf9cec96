package loadtest

import (
	"flag"
	"fmt"
	"io"
	"slices"
)

// Command is the common part of the experiments' command lines.
type Command[M moded] struct {
	Flags *flag.FlagSet // for the experiment's own flags, before Parse

	JSON      bool
	Placement Placement
	Modes     []M
	Notes     []string // what the user should know about the placement

	all         []M
	cpus, names *string
}

// NewCommand returns the command line of an experiment with the given modes; about and after are
// its help text before and after the list of modes.
func NewCommand[M moded](name, about, after string, modes []M, stderr io.Writer) *Command[M] {
	c := &Command[M]{Flags: flag.NewFlagSet(name, flag.ContinueOnError), all: modes}
	c.Flags.SetOutput(stderr)
	c.Flags.BoolVar(&c.JSON, "json", false, "print one JSON object a mode instead of a table")
	c.cpus = c.Flags.String("cpus", "auto", "cores: how many for the server, with all others for the generator; or SERVER:GENERATOR (`lists` like 0,2-3), auto (one each) or none")
	usual := slices.DeleteFunc(slices.Clone(modes), func(m M) bool { return m.mode().Extra })
	c.names = c.Flags.String("modes", ModeNames(usual), "which `modes` to run")
	c.Flags.Usage = func() {
		fmt.Fprint(stderr, about)
		DescribeModes(stderr, modes)
		fmt.Fprint(stderr, after)
		c.Flags.PrintDefaults()
	}
	return c
}

// Parse parses the arguments.
func (c *Command[M]) Parse(args []string) (err error) {
	if err := c.Flags.Parse(args); err != nil {
		return err
	}
	if c.Flags.NArg() > 0 {
		return fmt.Errorf("argument %q; want flags only, see -h", c.Flags.Arg(0))
	}
	if c.Modes, err = ChooseModes(c.all, *c.names); err != nil {
		return err
	}
	var note string
	if c.Placement, note, err = Place(*c.cpus); note != "" {
		c.Notes = append(c.Notes, note)
	}
	return err
}
