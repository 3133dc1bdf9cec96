package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/internal/gaprecord"
)

// errNoGaps reports that the program has written no record.
var errNoGaps = errors.New("the program has started no runtime of package cocoon, so no task was measured; want a program that calls cocoon.New")

// exitError is the exit code of the measured program.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// measure runs the program on the command line and prints the gaps of its tasks.
func (o gapsOptions) measure(args []string, s streams) error {
	c, err := goCommand("run", args)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "cocoon-gaps-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	c.Env = []string{"COCOON_GAPS=" + folder}
	c.Stdin, c.Stdout, c.Stderr = s.in, s.out, s.err
	if o.json {
		c.Stdout = s.err
	}
	code, err := c.Run(context.Background())
	if err != nil {
		return err
	}
	gaps, err := readGaps(folder)
	switch {
	case code != 0 && errors.Is(err, errNoGaps):
		return exitError(code)
	case err != nil:
		return err
	}
	if len(gaps) == 0 && !o.json {
		fmt.Fprintln(s.out, "no task was without a safe point for a millisecond")
	}
	if err := show(s.out, o, gaps, printMeasured); err != nil || code == 0 {
		return err
	}
	return exitError(code)
}

// readGaps reads the records of all processes, and merges the gaps in each function.
func readGaps(folder string) ([]gaprecord.Gap, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		return nil, cmp.Or(err, errNoGaps)
	}
	merged := gaprecord.New(nil)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var all []gaprecord.Gap
		if err := json.Unmarshal(text, &all); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, g := range all {
			merged.Add(g)
		}
	}
	return merged.Sorted(), nil
}

// printMeasured writes a gap with its stack.
func printMeasured(g gaprecord.Gap, w io.Writer) {
	where := "where no stack could be taken"
	if g.Function != "" {
		where = fmt.Sprintf("in %s at %s:%d", g.Function, nearby(g.File), g.Line)
	}
	fmt.Fprintf(w, "longest gap %v, %s, %d times; task %s\n", g.Longest.Round(10*time.Microsecond), where, g.Count, g.Task)
	if g.Stack != "" {
		fmt.Fprintf(w, "      %s\n", strings.ReplaceAll(g.Stack, "\n", "\n      "))
	}
	end := "the end of the task"
	if g.End != "" {
		end = g.End
	}
	fmt.Fprintf(w, "  until %s\n", end)
}
