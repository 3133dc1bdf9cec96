package cocoon

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// ruling is the basis of a policy's verdict or effect: the program and its snapshot. Everything
// else follows from them, because an evaluation depends on nothing but its snapshot. So the loop
// only copies the snapshot, in about 0.2 µs (BenchmarkDecisions), and the reader evaluates the
// program again to find the branch. It refers neither to the task nor to the compiled policy.
type ruling struct {
	policy   string
	version  int
	effect   int // the number of its site, from 1; 0: the verdict
	snapshot []uint64
	texts    []string // of the names that it read, in the order of the reads

	basis   atomic.Pointer[basis] // nil when it is settled
	settled atomic.Pointer[finding]

	// for the snapshot and the texts of most policies, in the same allocation
	fewWords [6]uint64
	fewTexts [2]string
}

// basis is the text on which the rulings of a version are based. When the version or its document
// is out of force, these rulings are settled: otherwise the stream would keep the text of a
// thousand versions, each with a long list of addresses, of a document reloaded each
// minute.
type basis struct {
	program *ir.Program
	source  *document.Document // that declares the policy; nil: code does
	file    string             // of the document
	gone    atomic.Bool        // out of force; set with regMu held
	used    atomic.Bool        // a ruling has it
}

func (b *basis) wasUsed() bool { return b.used.Load() }

const (
	// maxValueText bounds a name in the values of a decision, in bytes, and maxValueTexts all of
	// them together. Names may come from clients, and the stream keeps thousands of decisions.
	maxValueText  = 128
	maxValueTexts = 4 << 10
)

// isText reports whether the value of a read is shown as the text of a name: the number of a name,
// or of its hash, means nothing to a reader.
func isText(r ir.Read) bool { return r.Type == stubs.Name || r.Taken == ir.TakenHash }

// find returns the content of the ruling. r may be nil.
func (r *ruling) find() *finding {
	if r == nil {
		return &finding{}
	}
	base := r.basis.Load()
	if base == nil {
		return r.settled.Load()
	}
	f := &finding{values: r.values(base.program)}
	decided, err := r.branch(base.program)
	if err != nil { // the isolate would have erred as well
		f.marked = err.Error()
		return f
	}
	f.branch, f.decided, f.marked = base.branch(r.policy, decided), true, base.marked(r, decided)
	return f
}

// branch returns the part of the program that decided.
func (r *ruling) branch(program *ir.Program) (ir.Branch, error) {
	if r.effect > 0 {
		return program.Effected(r.snapshot, r.effect-1)
	}
	return program.Decided(r.snapshot)
}

// settle makes the ruling independent of its basis.
func (r *ruling) settle() {
	f := r.find()
	r.settled.Store(f)
	r.basis.Store(nil)
}

// values returns the values that the policy read.
func (r *ruling) values(program *ir.Program) (all []StubValue) {
	texts := r.texts
	for _, read := range program.Reads {
		word, n := r.snapshot[read.Offset], 1
		switch {
		case read.Type == stubs.NameList:
			n = min(int(word), len(texts))
			all = append(all, StubValue{read.String(), slices.Clone(texts[:n])})
		case isText(read):
			all = append(all, StubValue{read.Name().String(), texts[0]})
		default:
			all = append(all, StubValue{read.String(), stubs.Value(word, read.Type)})
			continue
		}
		texts = texts[n:]
	}
	return all
}

// because formats the values on one line.
func (r *ruling) because() string { return r.find().because() }

func (f *finding) because() string {
	var texts []string
	for _, v := range f.values {
		texts = append(texts, v.String())
	}
	return strings.Join(texts, " ")
}

// branch returns the deciding part of the expression.
func (o *basis) branch(name string, decided ir.Branch) Branch {
	at := o.program.Errorf(decided.Verdict, "", "")
	b := Branch{File: "policy.expr", Line: at.Line, Column: at.Col, Text: o.program.Excerpt(decided.Verdict)}
	if o.source != nil {
		if line, col, ok := o.source.PlaceIn(plainName(name), at.Pos); ok {
			b.File, b.Line, b.Column = o.document(), line, col
		} else if line, col := o.source.Place(document.Part{Kind: "policy", Name: plainName(name)}); line > 0 {
			b.File, b.Line, b.Column = o.document(), line, col // a limit, whose expression no one has written
		}
	}
	for _, c := range decided.When {
		b.Because = append(b.Because, Condition{o.program.Excerpt(c.Node), c.Holds})
	}
	return b
}

// document returns the name of the document's file, for messages.
func (o *basis) document() string { return cmp.Or(o.file, "document") }

// marked returns the deciding line of the policy's text with its place marked, in the document or
// in the expression.
func (o *basis) marked(r *ruling, decided ir.Branch) string {
	reason := fmt.Sprintf("version %d decided here", r.version)
	if o.source == nil {
		return fmt.Sprintf("%+v", o.program.Errorf(decided.Verdict, "", "policy %q: %s", r.policy, reason))
	}
	where := o.source.Refused(document.Part{Kind: "policy", Name: plainName(r.policy)}, o.program.Errorf(decided.Verdict, "", "%s", reason))
	return fmt.Sprintf("%+v", document.InFile(where, o.document()))
}

// json returns the JSON form. Durations are texts as policies write them, and so are the numbers
// that JSON lacks. r may be nil.
func (r *ruling) json() (j rulingJSON) {
	f := r.find()
	if b := f.branch; f.decided {
		j.Branch = &branchJSON{b.File, b.Line, b.Column, b.Text, b.Because}
	}
	for _, v := range f.values {
		switch value := v.Value.(type) {
		case time.Duration:
			v.Value = value.String()
		case float64:
			if math.IsNaN(value) || math.IsInf(value, 0) {
				v.Value = fmt.Sprint(value)
			}
		}
		j.Values = append(j.Values, valueInJSON(v))
	}
	return j
}

// attrs returns the same for package slog. r may be nil.
func (r *ruling) attrs() (attrs []slog.Attr) {
	f := r.find()
	if b := f.branch; f.decided {
		var because []string
		for _, c := range b.Because {
			because = append(because, c.String())
		}
		attrs = append(attrs, slog.String("branch", b.String()), slog.Any("because", because))
	}
	var values []any
	for _, v := range f.values {
		values = append(values, slog.Any(v.Stub, v.Value))
	}
	if values != nil {
		attrs = append(attrs, slog.Group("values", values...))
	}
	return attrs
}
