package cocoon

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Tenants says by which label tasks belong to a tenant, and how much each is worth.
type Tenants = policy.Tenants

// tenant is the account of a tenant on one loop. guarded by the loop's lock: an account for all
// loops would be one lock for all of them.
type tenant struct {
	sched.Group
	named
	thrown  int64
	arrived pace // counted while a policy reads tenant.rate
}

// threw counts a throw into a task of t, or the refusal of one; t may be nil. Called under the
// loop's lock.
func (t *tenant) threw() {
	if t != nil {
		t.thrown++
	}
}

// tenantTable is what is registered about tenants. It does not change.
type tenantTable struct {
	label  stubs.NameID
	text   string
	shares map[stubs.NameID]int64
	most   int
}

const defaultTenants = 1024

// RegisterTenants makes the runtime keep an account of each tenant on each loop, which policies
// read as tenant.* and Stats shows, and share the slots among them where a policy orders the queue
// by arriving.virtual_time (policy.FairShare). A task belongs to the tenant that its label names
// when it arrives. Called again, with the same label, it changes the shares. It costs a task about
// 50 ns.
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

// newTenantTable makes the table that is to be in force after one that now is; nil: there is none,
// or it counts no more.
func newTenantTable(t Tenants, now *tenantTable) (*tenantTable, error) {
	if err := t.Validate(); err != nil {
		return nil, fmt.Errorf("cocoon: %w", err)
	}
	if now != nil && now.text != t.Label {
		return nil, fmt.Errorf("cocoon: tenants by the label %q: those by %q are %w", t.Label, now.text, ErrDuplicate)
	}
	table := &tenantTable{label: stubs.Intern(t.Label), text: t.Label, shares: map[stubs.NameID]int64{}, most: t.Max}
	orDefault(&table.most, defaultTenants)
	for name, share := range t.Shares {
		table.shares[stubs.Intern(name)] = int64(share)
	}
	return table, nil
}

// installTenants puts a table in force, or none. Tenants by another label begin anew. Called with
// regMu held.
func (rt *Runtime) installTenants(table *tenantTable) {
	was := rt.tenants.Swap(table)
	if was == table {
		return
	}
	rt.recost()
	for _, l := range *rt.loops.Load() {
		l.lockAll()
		if table == nil || was != nil && was.label != table.label {
			l.tenants = nil // tasks that have not ended keep theirs
		}
		for id, t := range l.tenants {
			t.Weight = table.shares[id]
		}
		l.unlock() // with tenants, no slot will be open
	}
}

// unknownCost is what a tenant is charged at first for a task of which nothing is known.
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

// spoken are tenants that policies name. They have accounts of their own, whoever came before them.
type spoken map[stubs.NameID]bool

// keepsTenant reports whether the tenant has an account of its own however many there are.
func (rt *Runtime) keepsTenant(table *tenantTable, name stubs.NameID) bool {
	s := rt.spoken.Load()
	return table.shares[name] != 0 || s != nil && (*s)[name]
}

// keepTenants looks which tenants policies speak of. Accounts that are too many without those that
// they spoke of before end, where no task is left. Called with regMu held.
func (rt *Runtime) keepTenants() {
	now := spoken{}
	for _, r := range rt.policies {
		for _, m := range r.now.mentions() {
			if m.Read.Stub == stubs.TenantName {
				now[stubs.Intern(m.Name)] = true
			}
		}
	}
	was := rt.spoken.Swap(&now)
	table := rt.tenants.Load()
	if table == nil || was == nil || maps.Equal(*was, now) {
		return
	}
	for _, l := range *rt.loops.Load() {
		l.lockAll()
		for id, t := range l.tenants {
			if (*was)[id] && len(l.tenants) > table.most && t.Live() == 0 && !rt.keepsTenant(table, id) {
				delete(l.tenants, id)
			}
		}
		l.unlock()
	}
}

// others is the name of the tenants that have no account of their own.
const others = "other"

// tenantNamed returns a tenant's account, made when it is new: of so many as may have one, or of
// one that has a share. Called under the loop's lock.
func (l *Loop) tenantNamed(table *tenantTable, text string) *tenant {
	name := stubs.Intern(text)
	if t := l.tenants[name]; t != nil {
		return t
	}
	full := len(l.tenants) >= table.most && !l.rt.keepsTenant(table, name)
	if (full || len(text) > stubs.MaxName) && text != others {
		return l.tenantNamed(table, others)
	}
	if l.tenants == nil {
		l.tenants = map[stubs.NameID]*tenant{}
	}
	t := &tenant{named: named{text: strings.Clone(text), id: name}, Group: sched.Group{Weight: table.shares[name]}}
	l.tenants[name] = t
	return t
}

var errNoTenants = errors.New("no tenants are registered; register them with RegisterTenants, or in a document as tenants")

// TenantStats is the account of a tenant on a loop.
type TenantStats struct {
	Share   int           // its share relative to the other tenants
	Tasks   int           // that have not ended
	Queued  int           // of them wait for a slot
	Busy    int           // of them run
	Ended   int           // that have ended, or never started
	Running time.Duration // running time of all its tasks so far
	Thrown  int64         // throws of policies into its tasks, and refusals of them
}

// tenantStats is called under the loop's lock.
func (l *Loop) tenantStats(now int64) map[string]TenantStats {
	if l.rt.tenants.Load() == nil {
		return nil
	}
	all := make(map[string]TenantStats, len(l.tenants))
	for _, t := range l.tenants {
		all[t.text] = TenantStats{
			Share: int(max(1, t.Weight)), Tasks: t.Live(), Queued: t.Waiting(), Busy: t.Busy(), Ended: t.Ended(),
			Running: time.Duration(t.Running(now)), Thrown: t.thrown,
		}
	}
	return all
}
