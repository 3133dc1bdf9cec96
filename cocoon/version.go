package cocoon

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/states"
	"github.com/cocoon-go/cocoon/isolate"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// version is one version of a policy: compiled, with an evaluator for each matching loop. All steps
// that can fail precede its creation.
type version struct {
	of       *Registration
	number   int // among the versions of the policy, from 1; set when it comes into force
	spec     Policy
	verified analyzer.Verified
	module   *isolate.Module
	queued   bool                   // it can only continue while no task waits or is suspended
	ways     []analyzer.Way         // for a time policy: its ways to a result other than continue
	states   map[string]*states.Var // the states in the expression, including private ones
	bounds   []*bound               // one for each matching loop; guarded by regMu
	failures atomic.Int64           // consecutive evaluations that failed
	off      atomic.Bool            // cancelled, or switched off after failures: not evaluated
	from     atomic.Pointer[loadedDocument]
	basis    atomic.Pointer[basis]

	speaksOf      sync.Once    // see lookAtNames
	names, labels []ir.Mention // in the program
	own           Mode         // as registered, or set since; guarded by regMu
	part          *part        // of the tasks; nil: all of them; guarded by regMu
	erred         atomic.Bool  // an evaluation has failed
	ended         atomic.Bool  // in observe mode: it would have cancelled itself
}

// loadedDocument is a YAML document in force, or about to be, with its versions. It is immutable;
// regMu guards the objects in it.
type loadedDocument struct {
	states   map[string]policy.State
	tasks    map[string]*declared
	tenants  *tenantTable // nil: it declares none
	before   *tenantTable // in force before tenants
	versions []*version   // in their order
	source   *document.Document
	file     string // its name, as the caller of LoadPolicyFile wrote it; "" of no file
	text     textSum
	changes  []string // from the document before, in short; for the log
	canary   *canary  // nil: it applies to all tasks
	warnings []string // about its declarations

	isNew      bool    // it stands for a document before the first one
	rolledBack textSum // of the canary in whose place it came back
}

// cohort is the share of tasks that gets the new versions of a canary. A task is in it or not by
// what never changes of the task, so nothing is stored for a task, and all policies agree. It is
// immutable.
type cohort struct {
	by    byWhat
	label stubs.NameID // of byLabel
	limit uint64       // hashes below are in the cohort; they have 63 bits
}

type byWhat uint8

const (
	byTask  byWhat = iota // each task by itself
	byName                // the task's name
	byLabel               // a label of the task, such as its tenant's
)

// part is the part of the tasks to which a version applies while a canary runs.
type part struct {
	of  *cohort
	new bool // the cohort; false: the rest, and evaluations that concern no task
}

// canary is a canary in force: its document applies to the cohort, and the base to the rest.
type canary struct {
	*cohort
	said     document.Canary
	base     *loadedDocument // in force before; it is put back by a rollback
	since    time.Time
	stop     chan struct{} // closed when the canary is out of force
	versions []*version    // the versions of the cohort

	mu   sync.Mutex // guards what follows; taken under a loop's lock
	side [2]side    // the rest, the cohort
}

// side counts the tasks of one side of a canary.
type side struct {
	ended, failed int64 // failed: refused by a policy or a full queue, thrown into, or returned an error
	queueing      histogram
}

// canaries are those in force.
type canaries struct {
	all atomic.Pointer[[]*canary] // nil: none; replaced under regMu
}

// wantsCosts reports whether the policy reads the expected costs of tasks.
func (v *version) wantsCosts() bool {
	return slices.ContainsFunc(v.verified.Program().Reads, func(r ir.Read) bool {
		return r.Stub == stubs.ArrivingCost || r.Stub == stubs.QueueCost
	})
}

// leastInterval returns the policy's shortest interval on any loop, in ns, or notify.Never if it is
// not a time policy. Called with regMu held.
func (v *version) leastInterval() int64 {
	least := int64(notify.Never)
	for _, b := range v.bounds {
		if i := b.interval.Load(); i > 0 {
			least = min(least, i)
		}
	}
	return least
}

// mode returns the mode of the version. Called with regMu held.
func (v *version) mode() Mode { return max(v.own, v.of.rt.mode) }

func (v *version) member() analyzer.Member {
	return analyzer.Member{Spec: v.spec, Verified: v.verified}
}

// inForce reports whether v is the version in force. Called with regMu held.
func (v *version) inForce() bool { return v.of.rt.policies[v.of.name] == v.of && v.of.now == v }
