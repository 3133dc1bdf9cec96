package loadtest

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"time"
)

// Usage is the processor usage of a process so far, of all its threads together.
type Usage struct {
	CPU      time.Duration // user and system time
	Switches int64         // context switches, voluntary and involuntary
}

// Since returns the usage since an earlier reading.
func (u Usage) Since(earlier Usage) Usage {
	return Usage{u.CPU - earlier.CPU, u.Switches - earlier.Switches}
}

// Plus returns the sum of two usages.
func (u Usage) Plus(other Usage) Usage { return Usage{u.CPU + other.CPU, u.Switches + other.Switches} }

// Cost is a server's processor usage for a request, without its client's.
type Cost struct {
	CPUus    float64 `json:"server_cpu_us"` // in µs, user and system time
	Switches float64 `json:"server_switches"`
}

// Each returns the cost of each of n requests; without requests, all fields are 0.
func (u Usage) Each(requests int) Cost {
	if requests == 0 {
		return Cost{}
	}
	n := float64(requests)
	return Cost{float64(u.CPU) / float64(time.Microsecond) / n, float64(u.Switches) / n}
}

// Attend lets the experiment control a server process: it announces the listener's address on
// standard output, responds to each line on standard input with the process's usage, and calls end
// at the end of the input, which means that the experiment stops the server or has died.
func Attend(listener net.Listener, end func()) error {
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(announcement{listener.Addr().String()}); err != nil {
		return err
	}
	go func() {
		defer end()
		for in := json.NewDecoder(os.Stdin); ; {
			var question struct{}
			if in.Decode(&question) != nil || out.Encode(CurrentUsage()) != nil {
				return
			}
		}
	}()
	return nil
}

// announcement is a server's first message on its standard output.
type announcement struct{ Address string }

// Announced returns the address that a child that calls Attend has announced.
func (c *Child) Announced() (address string, err error) {
	var hello announcement
	if err := c.Receive(&hello); err != nil {
		return "", errors.Join(err, c.Stop())
	}
	return hello.Address, nil
}

// Usage returns the usage of a child that calls Attend.
func (c *Child) Usage() (u Usage, err error) {
	if err := c.Send(struct{}{}); err != nil {
		return u, err
	}
	return u, c.Receive(&u)
}
