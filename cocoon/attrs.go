package cocoon

import "github.com/cocoon-go/cocoon/stubs"

// attrs is an immutable list of attributes, newest first.
type attrs struct {
	next     *attrs
	what     attribute
	declared bool   // by a document; attributes given by a context take precedence
	noted    uint32 // see note; read and written atomically
	label    stubs.NameID
	number   int64  // the priority, the cost in ns, or the label's value
	text     string // the label's value: a copy, because it may be part of a whole request
	within   *Task  // of a cost: it applies to tasks started in this one, not to their children
}

type attribute uint8

const (
	priorityAttr attribute = iota
	labelAttr
	costAttr
)

// find returns the newest attribute of that sort given by a context, and the newest one declared by
// a document. Each is nil if there is none.
func (a *attrs) find(what attribute, label stubs.NameID) (given, declared *attrs) {
	for ; a != nil && (given == nil || declared == nil); a = a.next {
		switch {
		case a.what != what || a.label != label:
		case a.declared && declared == nil:
			declared = a
		case !a.declared && given == nil:
			given = a
		}
	}
	return given, declared
}

func (a *attrs) prio() int32 {
	switch given, declared := a.find(priorityAttr, 0); {
	case given != nil:
		return int32(given.number)
	case declared != nil:
		return int32(declared.number)
	}
	return 0
}

// lookup returns a label's value, or 0 if it is not set.
func (a *attrs) lookup(label stubs.NameID) stubs.NameID {
	if set := a.labelled(label); set != nil {
		return stubs.NameID(set.number)
	}
	return 0
}

// labelled returns the label, or nil if it is not set. An empty label, such as one taken from a
// missing header, counts as not set.
func (a *attrs) labelled(label stubs.NameID) *attrs {
	given, declared := a.find(labelAttr, label)
	if given != nil && given.number != 0 {
		return given
	}
	return declared
}

// cost returns the cost given for a task started in parent, or 0.
func (a *attrs) cost(parent *Task) int64 {
	for ; a != nil; a = a.next {
		if a.what == costAttr && a.within == parent {
			return a.number
		}
	}
	return 0
}
