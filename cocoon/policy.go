package cocoon

import (
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// Policy is a policy as its author writes it; docs/policy.md specifies its language. It has the
// methods of [policy.Spec], and these fields:
//
//	Name  string         // unique in the runtime; letters, digits, '-', '_', '.', '/'
//	On    Trigger        // when it is evaluated: Every, OnEnqueue and so on
//	Expr  string         // the expression
//	Mode  Mode           // Enforce, Observe or Off
//	Match Match          // to which loops, tasks and kinds it applies; all if zero
//	State map[string]any // private states with their first values, read as state.NAME
//	Zone  string         // of clock.*, such as "Europe/Berlin"; UTC if empty
//	Force bool           // see TimeLimit.Force
type Policy = policy.Spec

// Trigger says when a policy is evaluated. Use Every, OnEnqueue and the other events, or OnNotify;
// [policy.On] joins several events. Its fields:
//
//	Interval time.Duration // of a time policy
//	Events   stubs.Event   // of an event policy
//	Custom   string        // the name for Runtime.Notify
type Trigger = policy.Trigger

// Match limits a policy. An empty list matches everything, and all lists must match. Its fields:
//
//	Loops  []string // names of loops
//	Tasks  []string // names of tasks, and patterns of names
//	Except []string // exceptions from Tasks; the most specific entry of both counts
//	Kinds  []string // "atomic", "preemptible", "safe", "both"
type Match = policy.Match

// These types declare states, in Policy.State and, but for PerLoop, for Runtime.RegisterState.
type (
	// PerLoop declares a private state of which each loop has its own. Its field:
	//
	//	First any // the first value, a Bucket or a Keyed
	PerLoop = policy.PerLoop

	// Keyed declares a state with a value for each key. Its fields:
	//
	//	First any           // the first value of each key, or a Bucket; nil is 0
	//	Keys  int           // the greatest number of keys; the least recently used makes room
	//	TTL   time.Duration // the lifetime of a key after its last write; 0: until it makes room
	//	By    []string      // the parts of a key, "name" or "int", at most two; nil is one name
	Keyed = policy.Keyed

	// Bucket declares a token bucket. Its fields:
	//
	//	Rate  float64 // tokens added a second
	//	Burst float64 // capacity in tokens
	Bucket = policy.Bucket
)

// TimeLimit is a ready-made policy: a time limit on a section, or on tasks with a given name.
// Running time counts, and waiting does not. Its fields:
//
//	Func     string        // the name of a section or a task, or a pattern of names
//	Limit    time.Duration // the longest time
//	Interval time.Duration // between evaluations after Limit; 0: Limit/100, but 50 µs to 10 ms
//	Reason   string        // of the throw; "FUNC ran longer than LIMIT" if empty
//	Mode     Mode          // Enforce, Observe or Off
//	Force    bool          // throw also into code that holds locks, see [policy.TimeLimit]
type TimeLimit = policy.TimeLimit

// PolicyChange is one change that loading a policy file would make, see Runtime.CheckPolicyFile.
// Its fields:
//
//	Part    document.Part // what changes: its Kind, such as "state" or "policy", and its Name
//	What    string        // "add", "change" or "remove"
//	Details []string      // of a change, as in "mode: observe -> enforce"
type PolicyChange = document.Change

// Mode says what the runtime does with the verdicts and effects of policies.
type Mode = policy.Mode

// Modes of a policy, and of all policies of a runtime.
const (
	Enforce = policy.Enforce // carry out verdicts and effects
	Observe = policy.Observe // a dry run: only count and log them
	Off     = policy.Off     // do not evaluate them
)

// Triggers for the events of a task.
var (
	OnEnqueue = policy.On(stubs.Enqueue)
	OnStart   = policy.On(stubs.Start)
	OnBlock   = policy.On(stubs.Block)
	OnUnblock = policy.On(stubs.Unblock)
	OnExit    = policy.On(stubs.Exit)  // of a task that had a slot
	OnLeave   = policy.On(stubs.Leave) // of a task that waited, and ended without a slot
)

// Every is the trigger of a time policy. It is evaluated every interval (5 µs to 24 h) while tasks
// run on which it can have an effect; see "horizon" in docs/policy.md.
func Every(interval time.Duration) Trigger { return policy.Every(interval) }

// OnNotify is the trigger of a policy that is evaluated when the application calls Notify with the
// same name.
func OnNotify(name string) Trigger { return policy.OnCustom(name) }

// canarySuffix ends the name of the registration of a canary's version. No other name of a policy
// has the character.
const canarySuffix = "@canary"

// plainName returns the name that the document has for a policy.
func plainName(name string) string { return strings.TrimSuffix(name, canarySuffix) }
