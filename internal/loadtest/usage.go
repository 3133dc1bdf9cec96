package loadtest

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"time"
)

// Usage is what a process has used of the processors so far, all its threads together.
type Usage struct {
	CPU      time.Duration // user and system time
	Switches int64         // context switches: of threads that waited, and of those that the kernel made wait
}

// Since returns what was used since an earlier reading.
func (u Usage) Since(earlier Usage) Usage {
	return Usage{u.CPU - earlier.CPU, u.Switches - earlier.Switches}
}

// Plus returns what two have used together.
func (u Usage) Plus(other Usage) Usage { return Usage{u.CPU + other.CPU, u.Switches + other.Switches} }

// Cost is what a server used of the processors for a request, its client's part left out.
type Cost struct {
	CPUus    float64 `json:"server_cpu_us"` // in µs, of user and system time
	Switches float64 `json:"server_switches"`
}

// Each returns the cost of one of so many requests; of none, all is 0.
func (u Usage) Each(requests int) Cost {
	if requests == 0 {
		return Cost{}
	}
	n := float64(requests)
	return Cost{float64(u.CPU) / float64(time.Microsecond) / n, float64(u.Switches) / n}
}

// Attend is what a server process does beside serving: it announces the listener's address on its
// standard output, answers each question on its standard input by what it has used, and calls end
// at the end of its input, which is when the experiment wants it to end or has died.
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

// announcement is a server's first word on its standard output.
type announcement struct{ Address string }

// Announced returns the address that a child announces which attends.
func (c *Child) Announced() (address string, err error) {
	var hello announcement
	if err := c.Receive(&hello); err != nil {
		return "", errors.Join(err, c.Stop())
	}
	return hello.Address, nil
}

// Usage asks a child that attends what it has used.
func (c *Child) Usage() (u Usage, err error) {
	if err := c.Send(struct{}{}); err != nil {
		return u, err
	}
	return u, c.Receive(&u)
}
