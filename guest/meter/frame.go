package meter

// A frame is an open construct for the survey.
type frame struct {
	construct int32
	start     uint32 // the place of its first instruction
	region    int32  // the charge in which the code before it is summed up, or dead
	escape    int32  // the lowest frame to which a branch in it goes
	passed    int32  // of all ways to its label, as survey.passed
}

// An opened is an open construct for the writer.
type opened struct {
	label int32  // its label's number in what is written
	cost  uint16 // of what leads to its label, at most most
	state uint8  // bits as below
}

// Bits of an opened construct.
const (
	wasDead = 1 << iota // the code before it is never reached
	wasLoop
	twofold // a loop that became two
	blocks  // a counted loop that runs block by block
)

// added is how many constructs stand around the code of a loop that became two.
const added = 3

// An extent is how much of each kind the code has: for slices, the most of any function, and for
// what is written, the sum of all. With it, memory is taken once.
type extent struct {
	depth, constructs, charges int // the most in one function
	more                       int // an estimate of what is added, in bytes
}

// count takes in one function of an extent: its instructions that open and end constructs, and that
// branch.
type count struct {
	depth, deepest, constructs, charges, more int
}

func (n *count) see(c *code, fuel bool) {
	switch c.op {
	case opLoop:
		n.more += 56
		n.charges++
		n.open()
	case opBlock, opTryTable:
		n.open()
	case opIf:
		n.charge(fuel)
		n.open()
	case opEnd:
		n.depth--
	case opElse, opBrIf, opBrOnNull, opBrOnNonNull:
		n.charge(fuel)
	case opCall, opCallIndirect, opReturnCall:
		n.more += 3
	}
}

func (n *count) open() {
	n.constructs++
	n.depth++
	n.deepest = max(n.deepest, n.depth)
}

func (n *count) charge(fuel bool) {
	if fuel {
		n.charges++
		n.more += 4
	}
}

// take adds a function.
func (e *extent) take(n *count) {
	e.depth = max(e.depth, n.deepest+1)
	e.constructs = max(e.constructs, n.constructs+1)
	e.charges = max(e.charges, n.charges+1)
	e.more += n.more
}
