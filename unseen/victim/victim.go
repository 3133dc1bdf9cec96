// Package victim throws into an operation of a library, inside the test program of that library.
// The library's tests run afterwards, in the same process. Command unseen builds and runs it.
package victim

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Operation is a long call of a library. Its answer is the same each time, and is compared as
// fmt.Sprint shows it.
type Operation func(ctx context.Context) (answer any, err error)

// Order is the work of the process. Command unseen writes it into the environment, as JSON.
type Order struct {
	Report string        // the file that the report is written to
	Throws int           // how many; 0: the operation is called undisturbed
	Span   time.Duration // how long an undisturbed call runs
	Answer string        // what an undisturbed call answers
}

// Environment is the variable of an order. A process without it does nothing.
const Environment = "COCOON_UNSEEN"

// Report contains the results of a process.
type Report struct {
	Answer string        // of the undisturbed calls
	Span   time.Duration // of the last undisturbed call
	// how long the operation ran beyond its limit, until the throw ended it
	Stopped    []time.Duration
	Missed     []time.Duration // how long it ran beyond its limit, and then ended by itself
	Returned   map[string]int  // what the operation returned instead of the throw
	Harm       []string        // what was wrong afterwards
	Kept       []string        // the runtime's log lines about late throws
	Goroutines int             // remaining
}

// Run carries out the order of the environment. The init function of a test file calls it, so the
// throws precede the library's tests.
func Run(op Operation) {
	order := os.Getenv(Environment)
	if order == "" {
		return
	}
	var o Order
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		fail(fmt.Errorf("%s=%s: %w", Environment, order, err))
	}
	os.Unsetenv(Environment) // it is not for child processes
	done := make(chan struct{})
	// The goroutine of init functions is bound to a thread.
	go func() {
		defer close(done)
		c, err := newCampaign(o, op)
		if err != nil {
			fail(err)
		}
		if o.Throws == 0 {
			err = c.calls()
		} else {
			c.throws()
		}
		if err != nil {
			fail(err)
		}
		c.end()
	}()
	<-done
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "victim:", err)
	os.Exit(3)
}

// digest returns a result as text: as it is, or shortened to a checksum.
func digest(answer any) string {
	text := fmt.Sprint(answer)
	if len(text) > 100 {
		text = fmt.Sprintf("%.40q... of %d bytes, sha256 %.8x", text, len(text), sha256.Sum256([]byte(text)))
	}
	return text
}
