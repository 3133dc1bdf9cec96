// Package ir represents a checked policy as a program: a typed tree of operations ([Node]) with its
// reads and effects ([Program]), the cost of each operation ([Cost]), and the reference interpreter
// ([Interpret]), which defines the result of an evaluation.
package ir

import (
	"math"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/stubs"
)

// Op is an operation of the intermediate representation, which is a typed expression tree.
type Op uint8

// The operations. A comment lists the fields of Node that an operation uses; an operation with an
// empty comment uses the same as the one before it.
const (
	OpConst   Op = iota // Imm: the word
	OpRead              // Index: offset of the word in the snapshot
	OpLocal             // Index: the local
	OpLet               // Index: the local; A its value, B the body
	OpNot               // A
	OpNeg               // A: a number; integral overflow is an error, a Duration saturates
	OpAnd               // A, B: short-circuit
	OpOr                // A, B: short-circuit
	OpAdd               // A, B: of the node's Type, as in the next four; overflow as in OpNeg
	OpSub               //
	OpMul               //
	OpDiv               // integral division truncates; by zero is an error
	OpMod               // integral only; by zero is an error
	OpEq                // A, B: both of the type A.Type
	OpNe                //
	OpLt                // not for Bool, Name
	OpLe                //
	OpGt                //
	OpGe                //
	OpIf                // A: condition, B, C
	OpFloat             // A: integral word -> Float
	OpInt               // A: Float -> integral, truncated; NaN is an error, overflow as in OpNeg
	OpRetype            // A: the same word with the node's Type; it changes only the unit
	OpMin               // A, B: Float; NaN if either is
	OpMax               //
	OpSqrt              // A: Float; NaN below 0
	OpIn                // A: Name or Integral; Index: the set, of the same type
	OpMix               // A, B: Int -> Int, not negative; see Mix
	OpAny               // quantifiers: Range or List source, Index: the element's local, B: the predicate
	OpAll               //
	OpNone              //
	OpCount             //   gives Int
	OpEffect            // Index: the site; A: the operand or nil. Type Unit
	OpTake              // Index: the site; A: Float tokens; B: OpRead of the bucket. Bool: it took them
	OpSeq               // A (Unit), then B
	OpVerdict           // Imm: a stubs.Decision. Of a throw, Index: the reason; A: Duration, or nil
)

// Node is one operation. Nodes form a tree without sharing. They are immutable after lowering.
type Node struct {
	Op      Op
	Type    stubs.Type
	A, B, C *Node
	Index   int
	Imm     uint64
	Source  Source // quantifiers only
	Pos     int    // byte offset in the program's text
	End     int    // offset after its last byte
}

// Source is the sequence that a quantifier visits: a list stub in the snapshot, or the integers
// Lo..Hi.
type Source struct {
	List   bool
	Offset int // the place of the list's length; the elements follow it
	Max    int // the greatest number of elements
	Lo, Hi int64
}

// Bound returns the greatest number of elements the source can have, at most math.MaxInt.
func (s Source) Bound() int {
	if s.List {
		return s.Max
	}
	if s.Hi < s.Lo {
		return 0
	}
	between := uint64(s.Hi) - uint64(s.Lo) // right even where Hi-Lo overflows
	return int(min(between, math.MaxInt-1) + 1)
}

// Read is one state stub that a program reads, with its place in the snapshot.
type Read struct {
	Stub stubs.ID
	Key  string     // the key of a keyed stub, the name of a state, or the number of a draw
	By   *KeyOf     // the key of a keyed state; otherwise nil
	Type stubs.Type // the type of the stub or the state; Bool with a pattern, Int or Float with Taken

	// Pattern, if not empty, is compared with a name; the read is true if it matches. In
	// task.sections it replaces the key, and the read is about the outermost open section whose
	// name it matches. The writer of the snapshot matches the pattern; evaluators only read the
	// result.
	Pattern string

	// Taken is the value computed from the text of a name and read in the name's place. The writer
	// of the snapshot computes it.
	Taken   Taken
	Default uint64 // for TakenInt and TakenFloat: the word if the text is not a number

	// Quantile is the quantile of a stub such as queue.wait(0.99), and Window its window. Window is
	// also the window of a rate or an average. Otherwise both are 0.
	Quantile float64
	Window   time.Duration

	// Burst is the capacity of the bucket, if the read is of a token bucket. The word is then 0 to
	// Burst.
	Burst float64

	Offset int // the place of its first word
	Words  int // 1, or 1+Max for a list
	Pos    int // the place of its first use in the text
}

// Taken is the kind of value that a program reads of a name.
type Taken uint8

const (
	TakenWhole Taken = iota // the name itself
	TakenHash               // Hash of its text, an Int
	TakenInt                // its text as a decimal integer
	TakenFloat              // its text as a decimal number
)

// Site is one effect written in a program.
type Site struct {
	Effect stubs.Effect
	Name   string     // the state of an effect that writes, or the function of Call
	By     *KeyOf     // the key of a keyed state; otherwise nil
	Type   stubs.Type // the type of the operand; Unit if there is none
	Pos    int
}

// Program is a checked and lowered policy expression. It is immutable and safe for concurrent use.
type Program struct {
	Text    string
	On      stubs.Event
	Root    *Node // of type Verdict
	Reads   []Read
	Words   int // length of the snapshot
	Locals  []stubs.Type
	Reasons []string // of throws; Node.Index points here
	Sites   []Site
	Sets    []Set
	Choices []*Node                 // the OpIf nodes for choices in the text
	Repeats [][2]int                // the places in the text of constants that their list has already
	Dropped []*Node                 // quotients of constants that have dropped a fraction
	Names   map[stubs.NameID]string // the string constants
	Unused  []*Node                 // the places of let names that nothing uses
}

// ForEach returns the notifications on which the program is evaluated once for each of several
// running tasks instead of once a loop. For enqueue see AsksRunning. On ticks and custom events
// these are programs that read task.*, tenant.* or class.*, may throw or switch, or may move tasks
// to the background.
func (p *Program) ForEach() (on stubs.Event) {
	if p.AsksRunning() {
		on = stubs.Enqueue
	}
	if p.AsksRunning() || p.reads(stubs.TenantName, stubs.ClassService) || p.Root.decides(stubs.Throw) || p.Demotes() {
		on |= stubs.Tick | stubs.Custom
	}
	return on & p.On
}

// AsksRunning reports whether the program, on enqueue, is evaluated for each running task that may
// make room for the arriving one: it reads task.*, or may switch. Any other program is about the
// arriving task only, which a throw refuses, and is evaluated once.
func (p *Program) AsksRunning() bool {
	return p.reads(stubs.TaskName, stubs.TaskSlice) || p.MaySwitch()
}

// MaySwitch reports whether a switch is written in the program.
func (p *Program) MaySwitch() bool { return p.Root.decides(stubs.Switch) }

// SaysRetry reports whether a throw in the program has a time after which the caller may retry.
func (p *Program) SaysRetry() bool {
	return p.Root.Any(func(n *Node) bool { return n.Op == OpVerdict && n.A != nil })
}

// Demotes reports whether the program moves running tasks to the background.
func (p *Program) Demotes() bool {
	return p.On&stubs.Enqueue == 0 && slices.ContainsFunc(p.Sites, func(s Site) bool { return s.Effect == stubs.Background })
}

// reads reports whether the program reads a stub of the catalogue from first to last.
func (p *Program) reads(first, last stubs.ID) bool {
	return slices.ContainsFunc(p.Reads, func(r Read) bool { return first <= r.Stub && r.Stub <= last })
}

// AboutTenants returns the path of a stub that the program reads and that is empty without
// registered Tenants; or "".
func (p *Program) AboutTenants() string {
	for _, r := range p.Reads {
		if r.Stub == stubs.ArrivingVirtualTime || stubs.TenantName <= r.Stub && r.Stub <= stubs.TenantThrown {
			return stubs.Catalogue[r.Stub].Path
		}
	}
	return ""
}

// decides reports whether the verdict occurs in the tree.
func (n *Node) decides(verdict stubs.Decision) bool {
	return n.Any(func(n *Node) bool { return n.Op == OpVerdict && stubs.Decision(n.Imm) == verdict })
}

// Any reports whether f is true for an operation of the tree; a nil node has none.
func (n *Node) Any(f func(*Node) bool) bool {
	return n != nil && (f(n) || n.A.Any(f) || n.B.Any(f) || n.C.Any(f))
}

// LookUps returns how many keys of keyed states and buckets the program reads.
func (p *Program) LookUps() (count int) {
	for _, r := range p.Reads {
		if r.By != nil || r.Burst > 0 {
			count++
		}
	}
	return count
}
