package cocoon

import (
	"context"
	"runtime/metrics"
	"runtime/trace"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/keep"
	"github.com/cocoon-go/cocoon/internal/states"
	"github.com/cocoon-go/cocoon/isolate"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// Runtime owns loops, policies, the isolate in which policies run, and the timer. Most programs
// need one, the default runtime of the package-level functions. All methods are safe for concurrent
// use.
type Runtime struct {
	cfg        Config
	loops      atomic.Pointer[[]*Loop] // the first is the default loop; replaced under regMu
	timer      *notify.Timer
	store      *isolate.Store
	ctx        context.Context // for functions that policies call
	cancel     context.CancelFunc
	tasks      atomic.Int64 // tasks that have not ended, except tasks in open slots
	sample     sample
	cpu        cpuClock // the timer's
	saturation saturation
	gaps       *gapWatch // nil: gaps are not measured
	log        *logQueue
	looked     atomic.Int64 // no stacks are taken for a report until then

	decisions decisionStream
	errands   errands
	recorder  *flightRecorder // nil: there is no flight recorder

	made    int64                       // creation time, on the clock of package notify
	started time.Time                   // the same, on the system's clock
	witness atomic.Pointer[witness]     // is told what happens to tasks; nil: none, see witness.go
	tenants atomic.Pointer[tenantTable] // nil: no tenant has an account; replaced under regMu
	spoken  atomic.Pointer[spoken]      // tenants that policies refer to; replaced under regMu
	costs   atomic.Bool                 // the average cost of tasks of each name is needed

	warmth    warmth
	following following
	breathes  bool         // while it is hot, its tasks yield their cores at times, see breath.go
	lackP     atomic.Int32 // tasks that have a request and no P, see setLacksP

	naming   naming // of tasks and sections
	canaries canaries
	speaks   atomic.Bool  // policies or documents may refer to names
	dated    atomic.Bool  // a deadline was read from a task's context, for a policy
	undated  atomic.Bool  // a context without a deadline was asked for one
	unmetAt  atomic.Int64 // when names without a match are logged; 0: never
	loopsAt  atomic.Int64 // when loops that do not exist are logged; 0: never
	told     []string     // the names that were logged; guarded by regMu
	// awaitedOfCanaries are the labels by which canaries choose tasks, see await; guarded by regMu.
	awaitedOfCanaries []string
	awaitedKeys       awaitedKeys

	// the states and warnings that were logged; guarded by regMu
	toldIdle, toldUnread, toldTogether, toldFlows []string
	look                                          looking // see look.go

	// passedOver holds the places that were logged: SafePoint calls that cannot be safe points, and
	// calls that keep a throw for too long (keptAt).
	passedOver sync.Map

	// see keeps; nil: no rules of the build or of documents
	kept          atomic.Pointer[keep.Set]
	documentsKeep map[*document.Document][]document.Kept // guarded by regMu
	keptSeen      *keep.Set                              // for which keptUnmet is; guarded by regMu
	keptUnmet     []string

	states atomic.Pointer[map[string]*states.Var] // replaced under regMu
	steps  states.Steps

	// regMu serialises registrations. It is taken before any loop's lock, and never by evaluations.
	regMu         sync.Mutex
	policies      map[string]*Registration
	sequence      []*Registration // the same, in the order in which a new loop evaluates them
	endedPolicies endedPolicies   // guarded by regMu
	gone          []*basis        // out of force, and not settled; guarded by regMu
	funcs         map[string]*safeFunc
	// files holds the loaded documents, by the absolute paths of their files.
	files    map[string]*loadedDocument
	loads    map[string]*DocumentStats // by the same paths
	watched  map[string]*watching      // files that WatchPolicyFile watches, by path
	mode     Mode                      // of all policies, unless a policy's own mode is greater
	modeLogs logLimit
	closing  bool
	empty    chan struct{} // receives an element when the last task ends during Shutdown
	stopped  chan struct{} // closed when Shutdown is complete

	// forgettable is set when Shutdown is complete; the runtime then lives on only for the
	// remaining tasks.
	forgettable atomic.Bool

	// loadMu serialises loading of files, so that the content read last is in force. It is taken
	// before regMu.
	loadMu sync.Mutex
}

// errands are what code under a loop's lock leaves to goroutines of their own. The functions need
// the lock, or run code of the application, so they belong to layers above that code: see
// errands.go. They are immutable.
type errands struct {
	endContext func(s *strand, t *Task, section uint64, err *PreemptedError)
	hear       func(t *Task, said heard)
	withdraw   func(v *version)
}

// runtimes are the live runtimes of the process. A poll uses them to find its task.
var (
	runtimesMu sync.Mutex
	runtimes   atomic.Pointer[[]*Runtime]
)

// flightRecorder is a running flight recorder.
type flightRecorder struct {
	cfg    FlightRecorder
	rt     *Runtime
	next   atomic.Int64 // no file is written until then
	failed atomic.Bool  // an error was logged

	mu       sync.Mutex // guards recorder, and serialises writing
	recorder *trace.FlightRecorder
}

// following is when the number of slots was last compared with the number of processors.
type following struct{ at atomic.Int64 }

// looking is the search for warnings about the policies in force. Guarded by regMu.
type looking struct {
	wanted  bool              // policies have changed since the last look began
	running bool              // a goroutine looks, or pauses before it looks again
	added   map[*version]bool // since then, and still in force
}

// safeFunc is a function that policies may call.
type safeFunc struct {
	name     string
	do       func(context.Context)
	since    atomic.Int64 // when the call in progress began; 0: none is
	calls    atomic.Int64
	missed   atomic.Int64 // calls left out because another one was in progress
	missing  logLimit
	failures atomic.Int64 // calls that ended with a panic or Goexit
	failing  logLimit
}

// sample holds the values that policies see as runtime.*. A policy that reads one renews it. So the
// values are up to date even if no time policy keeps the timer running, and cost nothing if no
// policy reads them.
type sample struct {
	goroutines atomic.Uint64
	heap       atomic.Uint64 // bytes
	cpu        atomic.Uint64 // float64 bits, in cores
	at         atomic.Int64  // time of the last reading; 0: never

	mu      sync.Mutex // guards what follows; taken under a loop's
	read    [2]metrics.Sample
	lastCPU int64

	late     atomic.Int64 // by how many ns the last tick was late
	expected int64        // when the next tick should come; owned by the timer's thread
}

// tenantTable holds the registration of tenants. It is immutable, except for told.
type tenantTable struct {
	label  stubs.NameID
	text   string
	shares map[stubs.NameID]int64
	listed []string // the tenants with shares
	told   bool     // that the shares have no effect; guarded by regMu
	most   int
	full   atomic.Bool // it was logged that a loop has no room for another account

	expected int // as in policy.Tenants
}

// awaitedKeys finds the names to await because policies read constant keys of a state, and other
// policies write the state by a label or by the name of an event. A key that a policy also writes as
// a constant is included: nothing asks for it. Guarded by regMu.
type awaitedKeys struct {
	read map[string]map[string]bool      // the constant keys, by state
	by   map[string]map[nameStub]ir.Read // the stubs with the names, by state
}

// nameStub is a stub that has a name: a label, or the event.
type nameStub struct {
	stub stubs.ID
	key  string
}

// spoken holds the tenants that policies name. Each has an account of its own, even if many other
// tenants came first.
type spoken struct{ growing[stubs.NameID, bool] }

// warmth carries out the decisions of heat. Tasks and the timer detect needs, in some cases under a
// loop's lock, and changing GOMAXPROCS stops the world. So they only record the need, and one
// goroutine at a time brings the process into the state that heat demands (temper).
type warmth struct {
	needed atomic.Int64 // when there was last a need
	busy   atomic.Bool  // temper runs, or is about to
	hot    atomic.Bool  // the process is in the state that a hot runtime needs
	full   atomic.Bool  // the process is saturated; stored by the timer
	told   atomic.Int64 // when the timer last counted the goroutines that want a P, for full
	asked  atomic.Int64 // when full was last asked for, see saturated
	others atomic.Int64 // how much of the work for Ps is not that of tasks, in percent, see saturation
	fine   atomic.Int64 // when there was last a need because of a fine clock
	own    atomic.Int64 // hot: GOMAXPROCS without the spare Ps
	next   atomic.Int64 // hot: when temper is due again
	room   atomic.Bool  // hot: there are Ps for the slots and the spare ones
	beaten atomic.Int64 // when the timer last woke for a task that passes no SafePoint, see beat.go

	mu      sync.Mutex // serialises changes; guards what follows
	heat    heat
	slots   int   // of all loops
	ended   bool  // the runtime has ended, and stays cold
	renewed int64 // when temper last looked at what may change while the runtime is hot
	pause   int64 // until it looks again
	threads int   // how many threads there were when the slices were last set
	slices  bool  // short slices were granted
}

// witness is told what happens to tasks; package cocoonotel passes it on to their spans. It is told
// where a task has waited or is about to unwind. So a runtime without a witness pays one load of a
// pointer there, and nothing elsewhere. The task's own goroutine tells it where possible: the span
// of a request ends soon after its task, and a goroutine started for the purpose would come too
// late.
type witness struct {
	tell func(context.Context, inside.Event)
	logs logLimit
}

func init() { runtimes.Store(new([]*Runtime)) }

func changeRuntimes(change func([]*Runtime) []*Runtime) {
	runtimesMu.Lock()
	defer runtimesMu.Unlock()
	list := change(slices.Clone(*runtimes.Load()))
	runtimes.Store(&list)
}

// Loop returns the default loop.
func (rt *Runtime) Loop() *Loop { return (*rt.loops.Load())[0] }

// armStall makes the timer check the loops while a task waits.
func (rt *Runtime) armStall(now int64) {
	if rt.cfg.StallAfter > 0 {
		rt.timer.WakeAt(now + int64(rt.cfg.StallAfter)/2)
	}
}

// Decisions returns a reader of the decisions of the runtime and its policies: throws, refusals,
// switches, stalls, states that a policy sets, changes of policies, documents and modes. Verdicts
// of policies in observe mode are included, once for each task, as in PolicyStats. Verdicts to
// continue are not, and neither are Cancel, Shutdown and Yield, which the application calls itself.
// An effect on a state is a decision only if it is a set that changes a state without keys.
//
// The reader begins after the decision with the number after. Pass 0 to begin with the oldest
// decision still kept, Latest to begin with the next one, or the Number of a decision to continue
// after it. The runtime keeps the last 1024 decisions of each of four sorts: throws, refusals and
// stalls; switches; states; and everything else. A reader that lags loses the oldest. In each tenth
// of a second the runtime keeps at most 100 decisions of a policy, and at most 100 of the states
// that it sets. DecisionReader.Lost counts the others. Switches and states are in the stream only
// from the first call of Decisions on.
//
// A throw or refusal costs about 0.5 µs for the stream, whether anything reads it or not, and half
// as much when it is not kept. A switch or a state costs the same once Decisions has been called.
// All else costs nothing (BenchmarkDecisions; bench: watch). A reader costs nothing while nothing
// is decided, needs no Close, and delays no decision.
func (rt *Runtime) Decisions(after uint64) *DecisionReader {
	rt.decisions.watched.Store(true)
	return &DecisionReader{stream: &rt.decisions, cursor: rt.decisions.log.From(after)}
}

// Gaps returns the gaps measured so far, the longest first. It returns nil if Config.Gaps is off.
func (rt *Runtime) Gaps() []Gap {
	if rt.gaps == nil {
		return nil
	}
	return rt.gaps.record.Sorted()
}

// watching is a watch of a file, which ends with its context.
type watching struct{ ctx context.Context }
