package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/unseen/victim"
)

// try tests a library. The row contains what went wrong.
func (w *workplace) try(ctx context.Context, l library, o options) row {
	r := row{Name: l.name, Kind: l.kind, Module: l.module, Means: l.kept}
	defer w.clean(l)
	p, err := w.build(ctx, l)
	if err != nil {
		r.Harm = append(r.Harm, err.Error())
		return r
	}
	calm, err := w.calm(ctx, l, p)
	if err != nil {
		r.Harm = append(r.Harm, err.Error())
		return r
	}
	r.Span = calm.Span
	order := victim.Order{Span: calm.Span, Answer: calm.Answer}
	left := o.throws
	for i := range o.processes {
		order.Throws = left / (o.processes - i)
		left -= order.Throws
		if i+1 == o.processes {
			break // the last one is before the library's tests
		}
		got, err := w.order(ctx, l, p, p.polls, order, "-test.run=^$")
		r.add(got, err, calm)
	}
	w.suites(ctx, l, p, &r, order, calm)
	return r
}

// check builds a library, and calls its operation.
func (w *workplace) check(ctx context.Context, l library) error {
	defer w.clean(l)
	p, err := w.build(ctx, l)
	if err != nil {
		return err
	}
	calm, err := w.calm(ctx, l, p)
	if err == nil {
		w.progress("%s answers %s in %v", l.name, calm.Answer, calm.Span)
	}
	return err
}

func (w *workplace) clean(l library) {
	if !w.keep {
		os.RemoveAll(filepath.Join(w.folder, l.name))
	}
}

// calm returns the result of the operation in a fresh process without polls, and its running time
// with them.
func (w *workplace) calm(ctx context.Context, l library, p program) (victim.Report, error) {
	plain, err := w.order(ctx, l, p, p.plain, victim.Order{}, "-test.run=^$")
	if err != nil {
		return plain, err
	}
	polls, err := w.order(ctx, l, p, p.polls, victim.Order{}, "-test.run=^$")
	if err == nil && polls.Answer != plain.Answer {
		err = fmt.Errorf("the result of the operation is %s if built by cocoon, and %s if built by go", polls.Answer, plain.Answer)
	}
	return polls, err
}

// order runs a program with an order, and reads its report.
func (w *workplace) order(ctx context.Context, l library, p program, name string, o victim.Order, args ...string) (r victim.Report, err error) {
	env, file := w.environment(l, o)
	if _, err := w.command(ctx, p.folder, []string{env}, name, args...); err != nil {
		return r, err
	}
	return readReport(file)
}

func (w *workplace) environment(l library, o victim.Order) (env, file string) {
	o.Report = filepath.Join(w.folder, l.name, "report.json")
	os.Remove(o.Report)
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // an Order has only plain fields
	}
	return victim.Environment + "=" + string(text), o.Report
}

func readReport(file string) (r victim.Report, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(text, &r)
}

// suites runs the library's tests: built by go, and built by cocoon after the last throws. Tests
// that no longer pass get a second try, because some of them depend on the time.
func (w *workplace) suites(ctx context.Context, l library, p program, r *row, order victim.Order, calm victim.Report) {
	begin := time.Now()
	plain := w.test(ctx, l, p, p.plain)
	r.Suite = time.Since(begin)
	var after outcome
	for try := range 2 {
		env, file := w.environment(l, order)
		after = w.test(ctx, l, p, p.polls, env)
		if try == 0 {
			got, err := readReport(file)
			r.add(got, err, calm)
		}
		if len(lost(plain, after)) == 0 {
			break
		}
	}
	r.Tests, r.Passed = len(plain.passed), len(plain.passed)-len(lost(plain, after))
	missing := lost(plain, after)
	if len(missing) == 0 {
		return
	}
	cause := "in the process of the throws"
	if again := lost(plain, w.test(ctx, l, p, p.polls)); len(again) > 0 {
		cause = fmt.Sprintf("and %d of them in a fresh process, built by cocoon", len(again))
	}
	r.Harm = append(r.Harm, fmt.Sprintf("%d tests do not pass %s: %s", len(missing), cause, end(strings.Join(missing, " "), 300)))
	if after.err != nil {
		r.Harm = append(r.Harm, after.err.Error())
	}
}
