package policy

import (
	"math"

	"github.com/cocoon-go/cocoon/stubs"
)

// Op is an operation of the intermediate representation: a typed expression tree, small enough that the interpreter,
// the verifier and the code generator each fit in one file.
type Op uint8

const (
	OpConst   Op = iota // Imm: the word
	OpRead              // Index: offset of the word in the snapshot
	OpLocal             // Index: the local
	OpLet               // Index: the local; A its value, B the body
	OpNot               // A
	OpNeg               // A: Numeric; integral overflow is an error
	OpAnd               // A, B: short-circuit
	OpOr                // A, B: short-circuit
	OpAdd               // A, B: words of the node's Type, as for the next three; integral overflow is an error
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
	OpInt               // A: Float -> integral word of the node's Type, towards zero; NaN or out of range is an error
	OpRetype            // A: the same word under the node's Type (an Int literal times a Duration: units only)
	OpAny               // quantifiers: Range or List source, Index: the element's local, B: the predicate
	OpAll               //
	OpNone              //
	OpCount             //   gives Int
	OpEffect            // Index: the site; A: the operand or nil. Type Unit
	OpSeq               // A (Unit), then B
	OpVerdict           // Imm: the stubs.Decision; Index: the reason, for Throw. Type Verdict
)

// Node is one operation. Nodes form a tree: none is shared. After lowering nothing writes to them.
type Node struct {
	Op      Op
	Type    stubs.Type
	A, B, C *Node
	Index   int
	Imm     uint64
	Source  Source // quantifiers only
	Pos     int    // byte offset in the program's text
	End     int    // offset behind its last byte
}

// Source is what a quantifier runs over: a list stub in the snapshot, or the integers Lo..Hi.
type Source struct {
	List   bool
	Offset int // of the list's length word; the elements follow it
	Max    int // greatest number of elements
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

// Read is one state stub that a program reads, and where the snapshot holds it.
type Read struct {
	Stub   stubs.ID
	Key    string     // of a keyed stub; the state's name for stubs.State
	Type   stubs.Type // the stub's, or the registered state's
	Offset int        // of its first word
	Words  int        // 1, or 1+Max for a list
	Pos    int        // of its first use in the text
}

// Site is one effect written in a program.
type Site struct {
	Effect stubs.Effect
	Name   string     // the state of Set, the function of Call
	Type   stubs.Type // of the operand; Unit when there is none
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
	Choices []*Node // of Op OpIf: those that stand in the text, beside what operations are lowered to
}

// PerTask reports whether the program decides about a task: it reads task.*, or tenant.* where that is about the task and
// not the arriving one, or may throw or switch. One that does not is evaluated once a loop instead of once a running task.
func (p *Program) PerTask() bool {
	for _, r := range p.Reads {
		if r.Stub <= stubs.TaskSlice || p.On != stubs.Enqueue && stubs.TenantName <= r.Stub && r.Stub <= stubs.TenantThrown {
			return true
		}
	}
	return p.Root.decides()
}

// AboutTenants returns the path of a stub that the program reads and that says nothing where no Tenants are registered; or "".
func (p *Program) AboutTenants() string {
	for _, r := range p.Reads {
		if r.Stub == stubs.ArrivingVirtualTime || stubs.TenantName <= r.Stub && r.Stub <= stubs.TenantThrown {
			return stubs.Catalogue[r.Stub].Path
		}
	}
	return ""
}

func (n *Node) decides() bool {
	if n == nil {
		return false
	}
	if n.Op == OpVerdict && stubs.Decision(n.Imm) != stubs.Continue {
		return true
	}
	return n.A.decides() || n.B.decides() || n.C.decides()
}
