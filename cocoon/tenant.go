package cocoon

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Tenants says which label names the tenant of a task, and the share of each tenant. Its fields:
//
//	Label  string         // the label; tasks without it belong to the tenant ""
//	Shares map[string]int // relative shares; 1 for a tenant not listed
//	Max    int            // accounts that a loop keeps; 0: 1024. The rest share one, "other"
type Tenants = policy.Tenants

// RegisterTenants makes the runtime keep an account of each tenant on each loop. Policies read the
// accounts as tenant.*, and Stats returns them. If a policy orders the queue by
// arriving.virtual_time (policy.FairShare), the tenants share the slots. The value of a task's
// label when it arrives names its tenant. A second call with the same label changes the shares. It
// costs a task about 0.15 µs (BenchmarkCosts), because each task then takes the loop's lock.
func (rt *Runtime) RegisterTenants(t Tenants) error {
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	table, err := newTenantTable(t, rt.tenants.Load())
	if err != nil {
		return err
	}
	rt.installTenants(table)
	return nil
}

// newTenantTable makes the table that follows now, the table in force. now is nil if there is none,
// or if it no longer counts.
func newTenantTable(t Tenants, now *tenantTable) (*tenantTable, error) {
	if err := t.Validate(); err != nil {
		return nil, fmt.Errorf("cocoon: %w", err)
	}
	if now != nil && now.text != t.Label {
		return nil, fmt.Errorf("cocoon: tenants by the label %q: those by %q are %w", t.Label, now.text, ErrDuplicate)
	}
	table := &tenantTable{label: stubs.Intern(t.Label), text: t.Label, shares: map[stubs.NameID]int64{}, most: t.Accounts(), expected: t.Expected()}
	table.full.Store(now != nil && now.most == table.most && now.full.Load())
	for name, share := range t.Shares {
		table.listed = append(table.listed, name)
		table.shares[stubs.Intern(name)] = int64(share)
	}
	return table, nil
}

// installTenants puts a table in force, or none if it is nil. If the label is another one, all
// accounts start again at zero. Called with regMu held.
func (rt *Runtime) installTenants(table *tenantTable) {
	was := rt.tenants.Swap(table)
	if was == table {
		return
	}
	rt.recost()
	if table != nil {
		rt.speaks.Store(true)
		rt.listen(notify.Now())
	}
	for _, l := range *rt.loops.Load() {
		l.lockAll()
		if table == nil || was != nil && was.label != table.label {
			l.tenants = nil // tasks that have not ended keep their tenants
		}
		for id, t := range l.tenants {
			t.Weight = table.shares[id]
		}
		l.unlock() // with tenants, no slot will open
	}
}

// unknownCost is the initial charge to a tenant for a task of unknown cost.
const unknownCost = int64(time.Millisecond)

// join makes the task, which is about to arrive, one of its tenant's and of its class's. Called
// under the loop's lock.
func (l *Loop) join(s *strand, t *Task) {
	s.tenant, s.unseated = nil, false
	if table := l.rt.tenants.Load(); table != nil {
		l.joinTenant(s, t, table)
	}
	if l.meter != nil {
		l.countIn(s, t)
	}
}

func (l *Loop) joinTenant(s *strand, t *Task, table *tenantTable) {
	name := ""
	if set := t.attrs.labelled(table.label); set != nil {
		name = set.text
	}
	s.tenant = l.tenantNamed(table, name)
	s.core.Group, s.core.Cost = &s.tenant.Group, t.cost()
	orDefault(&s.core.Cost, unknownCost)
}

// others is the name of the account that tenants without an account of their own share.
const others = "other"

// tenantNamed returns a tenant's account, and makes it if the tenant is new and there is room, or
// the tenant has a share. Called under the loop's lock.
func (l *Loop) tenantNamed(table *tenantTable, text string) *tenant {
	name := stubs.Intern(text)
	if t := l.tenants[name]; t != nil {
		return t
	}
	full := len(l.tenants) >= table.most && !l.rt.keepsTenant(table, name)
	if (full || len(text) > stubs.MaxName) && text != others {
		if full && !table.full.Swap(true) {
			l.rt.log.add(slog.LevelWarn, `cocoon: there is no room for the account of another tenant: for policies, further tenants are one, "other"; max in tenants sets the number of accounts`,
				"loop", l.cfg.Name, "accounts", table.most)
		}
		return l.tenantNamed(table, others)
	}
	if l.tenants == nil {
		l.tenants = map[stubs.NameID]*tenant{}
	}
	t := &tenant{named: named{text: strings.Clone(text), id: name}, Group: sched.Group{Weight: table.shares[name]}}
	l.tenants[name] = t
	return t
}

// TenantStats is the account of a tenant on a loop.
type TenantStats struct {
	Share   int           // its share relative to the other tenants
	Tasks   int           // tasks that have not ended
	Queued  int           // tasks that wait for a slot
	Busy    int           // tasks that run
	Ended   int           // tasks that have ended, or never started
	Running time.Duration // running time of all its tasks so far; it never falls
	Thrown  int64         // throws of policies into its tasks, and refusals
	Listed  bool          // it has a share of its own in Tenants.Shares
}

// tenantStats is called under the loop's lock.
func (l *Loop) tenantStats(now int64) map[string]TenantStats {
	table := l.rt.tenants.Load()
	if table == nil {
		return nil
	}
	all := make(map[string]TenantStats, len(l.tenants))
	for _, t := range l.tenants {
		_, listed := table.shares[t.id]
		t.ran = max(t.ran, t.Running(now)) // Running falls when a task is found to have waited
		all[t.text] = TenantStats{
			Share: int(max(1, t.Weight)), Tasks: t.Live(), Queued: t.Waiting(), Busy: t.Busy(), Ended: t.Ended(),
			Running: time.Duration(t.ran), Thrown: t.thrown, Listed: listed,
		}
	}
	return all
}
