package cocoon

import (
	"fmt"
	"time"

	"github.com/cocoon-go/cocoon/internal/sched"
)

type accountJSON struct {
	Queued      time.Duration `json:"queued_ns"`
	Running     time.Duration `json:"running_ns"`
	Suspended   time.Duration `json:"suspended_ns"`
	Blocked     time.Duration `json:"blocked_ns"`
	Starved     time.Duration `json:"starved_ns"`
	Preemptions int64         `json:"preemptions"`
	SafePoints  int64         `json:"safe_points"`
}

// Account says how a task's time was spent.
type Account struct {
	Queued    time.Duration // waiting for a slot: before its start, and after blocks and yields
	Running   time.Duration
	Suspended time.Duration
	Blocked   time.Duration
	// Starved is the time with a slot but without a processor, as far as the runtime observed it;
	// see docs/design.md, What running is.
	Starved     time.Duration
	Preemptions int64 // how often it was switched out
	SafePoints  int64 // safe points at which it handled a request
}

// text returns the account on one line: "queued 1ms, running 20ms, ...".
func (a Account) text() string {
	return fmt.Sprintf("queued %v, running %v, suspended %v, blocked %v, without a processor %v, switched out %d times",
		a.Queued, a.Running, a.Suspended, a.Blocked, a.Starved, a.Preemptions)
}

func (a Account) json() accountJSON { return accountJSON(a) }

func accountOf(a sched.Account, safePoints int64) Account {
	return Account{
		Queued:      time.Duration(a.Queued),
		Running:     time.Duration(a.Running),
		Suspended:   time.Duration(a.Suspended),
		Blocked:     time.Duration(a.Blocked),
		Starved:     time.Duration(a.Starved),
		Preemptions: a.Preemptions,
		SafePoints:  safePoints,
	}
}
