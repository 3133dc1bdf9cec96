package loadtest

import (
	"fmt"
	"io"
	"os"
	"time"
)

// lateBound is the lateness of one request in a hundred from which on the generator's own delay
// affects the figures.
const lateBound = time.Millisecond

// Console writes the progress of an experiment to standard error. Only one goroutine may use it.
type Console struct {
	w    io.Writer
	live bool   // w is a terminal: each progress line replaces the previous one
	line string // the current progress line; without a terminal, the last phase
}

// NewConsole returns a console that writes to w.
func NewConsole(w io.Writer) *Console {
	c := &Console{w: w}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		c.live = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return c
}

// Status writes a line that stays.
func (c *Console) Status(format string, args ...any) {
	c.Clear()
	fmt.Fprintf(c.w, format+"\n", args...)
}

// Notes writes lines that stay.
func (c *Console) Notes(notes []string) {
	for _, note := range notes {
		c.Status("%s", note)
	}
}

// Progress shows a line that the next one replaces. Without a terminal, it writes each new phase
// instead.
func (c *Console) Progress(phase, line string) {
	if !c.live {
		if c.line != phase {
			c.line = phase
			fmt.Fprintln(c.w, phase)
		}
		return
	}
	c.Clear()
	c.line = line
	fmt.Fprint(c.w, line)
}

// Clear removes the progress line.
func (c *Console) Clear() {
	if c.live && c.line != "" {
		fmt.Fprintf(c.w, "\r%*s\r", len(c.line), "")
		c.line = ""
	}
}

// Late warns if a generator sent its requests later than lateBound; late is the 99th percentile.
func (c *Console) Late(mode string, late time.Duration) {
	if late > lateBound {
		c.Status("%s: the generator did not keep its schedule: one request in a hundred was sent more than %v late, "+
			"which is part of its latency; run on an idle machine or lower the rates", mode, late.Round(time.Microsecond))
	}
}
