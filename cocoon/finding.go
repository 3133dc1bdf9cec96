package cocoon

import (
	"fmt"
)

// finding is the content of a ruling.
type finding struct {
	values  []StubValue
	branch  Branch
	decided bool   // there is a branch
	marked  string // the deciding line of the text, with its place marked
}

// StubValue is the value of a state stub that a policy read.
type StubValue struct {
	Stub string // as policies write it: queue.length, task.labels["plan"], state.tokens

	// Value is a bool, int64, float64, time.Duration, string or []string. Texts are cut after 128
	// bytes.
	Value any
}

// Branch is the part of a policy's expression that decided.
type Branch struct {
	File   string // of the document; "policy.expr" for a policy of code
	Line   int    // of the verdict, in the document or in the expression, or of a limit; from 1
	Column int    // in characters, from 1
	Text   string // the verdict as written, on one line: throw("too busy")

	// Because has the conditions of the choices on the way to the verdict, the outermost first.
	Because []Condition
}

// Condition is a condition in a policy's expression, and what it was when the policy decided.
type Condition struct {
	Text  string `json:"text"` // as written, on one line: queue.length > 10
	Holds bool   `json:"holds"`
}

// String returns "policies.yaml:12:7: throw("too busy")".
func (b Branch) String() string { return fmt.Sprintf("%s:%d:%d: %s", b.File, b.Line, b.Column, b.Text) }

// String returns "queue.length > 10 is true".
func (c Condition) String() string { return fmt.Sprintf("%s is %v", c.Text, c.Holds) }

// String returns "task.labels["plan"]="gold"". Texts are quoted.
func (v StubValue) String() string {
	switch v.Value.(type) {
	case string, []string:
		return fmt.Sprintf("%s=%q", v.Stub, v.Value)
	}
	return fmt.Sprintf("%s=%v", v.Stub, v.Value)
}

// rulingJSON is the part of the JSON form of a decision and of a throw that a ruling has.
type rulingJSON struct {
	Branch *branchJSON   `json:"branch,omitempty"`
	Values []valueInJSON `json:"values,omitempty"`
}

type branchJSON struct {
	File    string      `json:"file"`
	Line    int         `json:"line"`
	Column  int         `json:"column"`
	Text    string      `json:"text"`
	Because []Condition `json:"because,omitempty"`
}

type valueInJSON struct {
	Stub  string `json:"stub"`
	Value any    `json:"value"`
}
