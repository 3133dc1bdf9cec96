package main

import (
	"context"
	"fmt"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/cocoon-go/cocoon/analyzer"
	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/isolate"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// evalCase is a policy, a task for it to read, and the same expression for expr, in which numbers
// stand for verdicts.
type evalCase struct {
	name   string
	spec   policy.Spec
	values map[stubs.ID]uint64
	expr   string
}

var evalCases = []evalCase{
	{
		"regex",
		policy.Spec{
			Name: "regex", On: policy.Every(100 * time.Microsecond),
			Expr: `task.section == "regex.match" && task.section_running > duration("100ms") ? throw("regex took too long") : continue()`,
		},
		map[stubs.ID]uint64{
			stubs.TaskSection:        uint64(stubs.Intern("regex.match")),
			stubs.TaskSectionRunning: uint64(50 * time.Millisecond),
		},
		`task.section == "regex.match" && task.section_running > duration("100ms") ? 1 : 0`,
	},
	{
		"hol",
		policy.DefaultPreemption(cocoon.OnEnqueue),
		map[stubs.ID]uint64{stubs.QueueSafe: 2, stubs.TaskKind: uint64(stubs.Kinds[1])},
		`queue.safe > 0 and task.kind in ["preemptible", "both"] ? 2 : 0`,
	},
}

// microEval measures one evaluation of a policy in the isolate, from values in Go variables, which
// are written to its snapshot, to the outcome. The peer is expr's virtual machine, reused, over a
// struct written anew for each evaluation. "_notify_ns" is the same policy through the whole
// runtime: Notify takes the loop's lock, reads the clock, fills the snapshot from the calling task,
// and evaluates.
func microEval(ctx context.Context, r *report, e effort) error {
	const peer = "expr's VM"
	for _, c := range evalCases {
		got, err := medians(ctx, e, c.isolated, c.exprVM, c.notified)
		if err != nil {
			return err
		}
		r.add(result{Name: "eval", Metric: c.name + "_ns", Value: got[0][ns], Unit: "ns",
			Peer: peer, PeerValue: got[1][ns]}, upTo(80))
		r.add(result{Name: "eval", Metric: c.name + "_allocs", Value: got[0][allocs], Unit: "allocs",
			Peer: peer, PeerValue: got[1][allocs]}, upTo(0))
		r.add(result{Name: "eval", Metric: c.name + "_notify_ns", Value: got[2][ns], Unit: "ns"}, claim{})
	}
	return nil
}

func (c evalCase) isolated(ctx context.Context, e effort) (f figures, err error) {
	program, err := c.spec.Parse(nil, nil)
	if err != nil {
		return nil, err
	}
	verified, err := analyzer.Verify(program, analyzer.Limits{Interval: c.spec.On.Interval})
	if err != nil {
		return nil, err
	}
	store, err := isolate.NewStore(ctx)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	module, err := store.Compile(verified)
	if err != nil {
		return nil, err
	}
	evaluator, err := module.NewEvaluator()
	if err != nil {
		return nil, err
	}
	var offsets []int
	var words []uint64
	for _, read := range program.Reads {
		offsets, words = append(offsets, read.Offset), append(words, c.values[read.Stub])
	}
	f = perOperation(e.span, func(n int) {
		for range n {
			snapshot := evaluator.Snapshot()
			for i, offset := range offsets {
				snapshot[offset] = words[i]
			}
			if _, e := evaluator.Eval(); e != nil {
				err = e
			}
		}
	})
	return f, err
}

// exprEnv is the environment of the expressions for expr.
type exprEnv struct {
	Task struct {
		Section        string        `expr:"section"`
		SectionRunning time.Duration `expr:"section_running"`
		Kind           string        `expr:"kind"`
	} `expr:"task"`
	Queue struct {
		Safe int `expr:"safe"`
	} `expr:"queue"`
}

func (c evalCase) exprVM(_ context.Context, e effort) (f figures, err error) {
	program, err := expr.Compile(c.expr, expr.Env(&exprEnv{}))
	if err != nil {
		return nil, err
	}
	var machine vm.VM
	env := &exprEnv{}
	f = perOperation(e.span, func(n int) {
		for range n {
			env.Task.Section, env.Task.SectionRunning = "regex.match", 50*time.Millisecond
			env.Task.Kind, env.Queue.Safe = "preemptible", 2
			if _, e := machine.Run(program, env); e != nil {
				err = e
			}
		}
	})
	return f, err
}

func (c evalCase) notified(ctx context.Context, e effort) (figures, error) {
	return withRuntime(cocoon.Config{Slots: 1}, func(rt *cocoon.Runtime) (f figures, err error) {
		spec := c.spec
		spec.On = cocoon.OnNotify("bench")
		registration, err := rt.RegisterPolicy(spec)
		if err != nil {
			return nil, err
		}
		if err := rt.RegisterPreemptibleFunc("caller"); err != nil {
			return nil, err
		}
		calls := int64(0)
		err = rt.Run(ctx, "caller", func(ctx context.Context) error {
			f, err = cocoon.Section(ctx, "regex.match", func() (figures, error) {
				return perOperation(e.span, func(n int) {
					calls += int64(n)
					for range n {
						rt.Notify("bench", 1)
					}
				}), nil
			})
			return err
		})
		if n := registration.Stats().Evaluations; err == nil && n != calls {
			err = fmt.Errorf("%d of %d notifications evaluated the policy; want all", n, calls)
		}
		return f, err
	})
}
