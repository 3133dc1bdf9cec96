package cocoondebug

import (
	"encoding/json"
	"time"
)

// Snapshot is the content of the page at one moment. Its JSON form is the response to ?format=json.
// Its names do not change, but new ones may be added. Fields of the form name_ns are nanoseconds.
// Rates, quantiles and the counts of names are of the window: the last ten seconds, or the time
// since the first request. Texts that clients may choose are cut, but not escaped: code that shows
// them must escape them.
//
// A field more_X says how many X there are in addition to the listed ones.
type Snapshot struct {
	Number  uint64        `json:"number"` // of the snapshot, since the first request
	Time    time.Time     `json:"time"`
	Started time.Time     `json:"started"`
	Ended   bool          `json:"ended"` // the runtime has shut down: this is the last snapshot
	Mode    string        `json:"mode"`  // of all policies: enforce, observe or off
	Window  time.Duration `json:"window_ns"`

	Live      int64 `json:"live_tasks"` // tasks that have not ended
	LinesLost int64 `json:"lines_lost"` // of the log

	Loops     []Loop `json:"loops"`
	MoreLoops int    `json:"more_loops"`

	Names     []Name `json:"names"` // of tasks, the busiest first
	MoreNames int    `json:"more_names"`

	Tasks     []Task `json:"tasks"` // a tree: each task follows its parent
	MoreTasks int64  `json:"more_tasks"`

	Policies     []Policy `json:"policies"`
	MorePolicies int      `json:"more_policies"`

	Canaries     []Canary `json:"canaries"`
	MoreCanaries int      `json:"more_canaries"`

	States     []State `json:"states"`
	MoreStates int     `json:"more_states"`

	Decisions     []Decision `json:"decisions"`      // the newest first, without stalls
	Stalls        []Decision `json:"stalls"`         // the newest first
	DecisionsLost uint64     `json:"decisions_lost"` // see cocoon.DecisionReader.Lost

	Gaps     []Gap `json:"gaps"` // with Config.Gaps; the longest first
	MoreGaps int   `json:"more_gaps"`

	Unmet     []string `json:"unmet"` // see cocoon.Stats.Unmet
	MoreUnmet int      `json:"more_unmet"`

	Viewers Viewers `json:"viewers"`
}

// Loop is a loop of the runtime.
type Loop struct {
	Name        string  `json:"name"`
	Slots       int     `json:"slots"`
	Busy        int     `json:"busy"`
	Queued      int     `json:"queued"`
	Suspended   int     `json:"suspended"`
	Lent        int     `json:"lent"`
	Parked      int     `json:"parked"`
	Utilization float64 `json:"utilization"`

	Ended   int64 `json:"ended"`   // tasks
	Refused int64 `json:"refused"` // tasks
	Stalls  int64 `json:"stalls"`
	Waits   int64 `json:"waits"` // unannounced waits

	EndedRate   float64 `json:"ended_per_s"`
	RefusedRate float64 `json:"refused_per_s"`

	Wait      Quantiles `json:"queue_wait"`      // of the tasks that ended in the window
	SafePoint Quantiles `json:"safe_point_wait"` // from requests to safe points, in the window

	// Line shows which tasks were in the slots. Queue is how many tasks waited, the oldest sample
	// first.
	Line  Line  `json:"line"`
	Queue []int `json:"queue"`

	Tenants     []Tenant `json:"tenants"` // the busiest first
	MoreTenants int      `json:"more_tenants"`
}

// Quantiles are upper bounds of quantiles, at most 9 % above them. All are 0 if Count is 0.
type Quantiles struct {
	Count int64         `json:"count"`
	P50   time.Duration `json:"p50_ns"`
	P90   time.Duration `json:"p90_ns"`
	P99   time.Duration `json:"p99_ns"`
}

// Line is a time line of slots, made of samples.
type Line struct {
	Every     time.Duration `json:"every_ns"` // between two samples
	Samples   int           `json:"samples"`
	Names     []string      `json:"names"` // of tasks; Names[0] is "", for all further names
	Slots     [][]Span      `json:"slots"` // by slot
	MoreSlots int           `json:"more_slots"`
}

// Span is a stretch in which tasks of one name were seen in a slot: the index of the name in
// Line.Names, the first sample, and the sample after the last one. The slot was free between spans.
type Span [3]int

// Tenant is a tenant on a loop.
type Tenant struct {
	Name    string        `json:"name"`
	Share   int           `json:"share"`
	Busy    int           `json:"busy"`
	Queued  int           `json:"queued"`
	Ended   int           `json:"ended"`
	Running time.Duration `json:"running_ns"`
	Thrown  int64         `json:"thrown"`
}

// Name has the figures of all tasks of one name. A task that was started inside another task counts
// under its path, as in cocoon.Task.Path.
type Name struct {
	Name string `json:"name"`

	// CPU is the number of slots that tasks of the name used, on average over the window, by
	// samples of the first 64 slots of each loop.
	CPU float64 `json:"cpu"`

	// Tasks, Queued and Wait count only the tasks that the snapshot has read.
	Tasks  int           `json:"tasks"`
	Queued int           `json:"queued"`
	Wait   time.Duration `json:"wait_ns"` // the longest wait for a slot, so far

	// Throws and Refusals count the decisions in the window, including those in observe mode.
	Throws   int `json:"throws"`
	Refusals int `json:"refusals"`

	Color int `json:"-"` // on the page: 1 to colors, or 0 for none
}

// Task is a task that has not ended, or an ended ancestor of such a task.
type Task struct {
	ID      string        `json:"id"` // for the action cancel
	Depth   int           `json:"depth"`
	Name    string        `json:"name"`
	Stack   []string      `json:"stack"` // see cocoon.Task.Stack; a long one lacks its middle
	Loop    string        `json:"loop"`
	State   string        `json:"state"` // as in cocoon.TaskStats, or "ended"
	Slot    int           `json:"slot"`  // -1: none
	For     time.Duration `json:"for_ns"`
	Tenant  string        `json:"tenant"`
	Section string        `json:"section"`

	Queued      time.Duration `json:"queued_ns"`
	Running     time.Duration `json:"running_ns"`
	Blocked     time.Duration `json:"blocked_ns"`
	Suspended   time.Duration `json:"suspended_ns"`
	Starved     time.Duration `json:"starved_ns"`
	Preemptions int64         `json:"preemptions"`
}

// Policy is a policy in force.
type Policy struct {
	Name     string        `json:"name"`
	Text     string        `json:"text"`
	On       string        `json:"on"`
	Match    string        `json:"match"` // "" if it matches everything
	File     string        `json:"file"`
	Mode     string        `json:"mode"`     // in effect
	Own      string        `json:"own_mode"` // the policy's own; the runtime's mode may be greater
	Cost     int           `json:"cost"`     // steps of an evaluation, at most
	Interval time.Duration `json:"interval_ns"`
	Off      bool          `json:"off"` // cancelled, or switched off after errors
	Warnings []string      `json:"warnings"`

	Evaluations int64  `json:"evaluations"`
	Throws      int64  `json:"throws"`
	Refusals    int64  `json:"refusals"`
	Switches    int64  `json:"switches"`
	Effects     int64  `json:"effects"`
	WouldThrow  int64  `json:"would_throw"` // or would refuse, in observe mode
	WouldSwitch int64  `json:"would_switch"`
	WouldEffect int64  `json:"would_effect"`
	Errors      int64  `json:"errors"`
	Clamped     int64  `json:"clamped"`
	LastError   string `json:"last_error"`

	Last []Decision `json:"last"` // its last decisions, the newest first
}

// Canary is a document that applies to a share of the tasks. Its figures are since it came into
// force.
type Canary struct {
	File   string     `json:"file"`
	Share  float64    `json:"share"`
	By     string     `json:"by"` // the value whose hash chooses the tasks
	Since  time.Time  `json:"since"`
	Throws int64      `json:"throws"` // throws and refusals by its versions of policies
	Cohort CanarySide `json:"cohort"`
	Rest   CanarySide `json:"rest"`
}

// CanarySide counts the tasks of one side of a canary.
type CanarySide struct {
	Ended  int64         `json:"ended"`  // tasks that ended or were refused
	Failed int64         `json:"failed"` // those refused, thrown into, or ended with an error
	Wait   time.Duration `json:"wait_p99_ns"`
}

// State is a state, or the size of a state with keys.
type State struct {
	Name    string          `json:"name"` // for a private state: POLICY.NAME
	Loop    string          `json:"loop"` // for a state with a value of its own on each loop
	Value   json.RawMessage `json:"value,omitempty"`
	Keys    int             `json:"keys,omitempty"`
	MaxKeys int             `json:"max_keys,omitempty"`
	Evicted int64           `json:"evicted,omitempty"`
}

// Gap is a cocoon.Gap without its stack.
type Gap struct {
	Function string        `json:"function"`
	File     string        `json:"file"`
	Line     int           `json:"line"`
	Longest  time.Duration `json:"longest_ns"`
	Count    int64         `json:"count"`
	Task     string        `json:"task"`
}

// Viewers counts the streams of the handler.
type Viewers struct {
	Watching int    `json:"watching"`
	Skipped  uint64 `json:"skipped"` // snapshots that viewers did not get, because they read slowly
	Dropped  uint64 `json:"dropped"` // viewers that did not read at all
	Refused  uint64 `json:"refused"` // viewers for which there was no room
}
