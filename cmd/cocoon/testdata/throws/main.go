// Throws runs engines of the standard library and of regexp2 in tasks with a time limit. After each
// throw, it tries the engine. Its test builds it by cocoon run. It prints a line for each engine.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/dlclark/regexp2"

	"github.com/cocoon-go/cocoon/cocoon"
)

// rounds is how often each engine is thrown out of.
const rounds = 3

// moreRounds is the same for engines that a throw harms only at some moments.
var moreRounds = map[string]int{"release without defer": 200}

// spin is code that knows nothing of Cocoon and does not end.
func spin() {
	for more := true; more; {
	}
}

// engine is one way to run for ever, and to see afterwards that nothing is broken.
type engine struct {
	name string
	work func() error
	try  func() error
}

func main() {
	rt, err := cocoon.New(cocoon.Config{Slots: 1})
	if err != nil {
		fail("runtime", err)
	}
	if _, err := rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "job", Limit: 5 * time.Millisecond}); err != nil {
		fail("time limit", err)
	}
	for _, e := range engines() {
		for range max(rounds, moreRounds[e.name]) {
			if err := throwOut(rt, e); err != nil {
				fail(e.name, err)
			}
			if err := e.try(); err != nil {
				fail(e.name+" afterwards", err)
			}
		}
		fmt.Println(e.name)
	}
	if err := rt.Shutdown(context.Background()); err != nil {
		fail("shutdown", err)
	}
}

func fail(what string, err error) {
	fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
	os.Exit(1)
}

// throwOut runs the work in a task, which must end by a throw, with its defers run. On a busy
// machine a throw may arrive before the task defers anything: then throwOut runs another task.
func throwOut(rt *cocoon.Runtime, e engine) error {
	began, deferred := false, false
	err := rt.Run(context.Background(), "job", func(context.Context) error {
		defer func() { deferred = true }()
		began = true
		return e.work()
	})
	var preempted *cocoon.PreemptedError
	switch {
	case !errors.As(err, &preempted):
		return fmt.Errorf("it ended with %v", err)
	case preempted.Panic() != nil:
		return fmt.Errorf("it became %w", preempted.Panic())
	case !began:
		return throwOut(rt, e)
	case !deferred:
		return errors.New("the defers did not run")
	}
	return nil
}

func engines() []engine {
	return append(deferring(), []engine{
		regex(), comparator("sort.Slice", sortSlice), comparator("slices.SortFunc", slices.SortFunc[[]int]), marshaler(), values(),
		templateFunc(), endlessTemplate(), buffer(), mutex(), reading(), machines(), forking(), fanning(), database(), flight(), compressed(), compressedAndClosed(), cached(), named(), seated(), opened(), failing(), acquiring(), storing(), releasing(), keeping(), pulled(), pulledPairs(), recovering(), printing(), logging(), marshalled(), usage(), symbols(), ioPiped(), netPiped(),
	}...)
}

func equal[T comparable](got, want T) error {
	if got != want {
		return fmt.Errorf("got %v; want %v", got, want)
	}
	return nil
}

// buffer grows, and is as it was when it could not.
func buffer() engine {
	const text = "what is in the buffer"
	b := bytes.NewBufferString(text)
	return engine{
		"bytes.Buffer",
		func() error {
			growForEver(b)
			return nil
		},
		func() error {
			if b.Len() != len(text) {
				return fmt.Errorf("%d bytes are in the buffer", b.Len())
			}
			b.WriteString(text)
			err := equal(b.String(), text+text)
			b.Truncate(len(text))
			return err
		},
	}
}

// growForEver does not poll, so what is thrown out of is the growth.
//
//go:norace
func growForEver(b *bytes.Buffer) {
	for {
		grown := *b
		grown.Grow(1 << 27)
	}
}

// regex uses the same Regexp before and after.
func regex() engine {
	re := regexp2.MustCompile(`^(a+)+$`, regexp2.None)
	match := func(input string) error {
		m, err := re.FindStringMatch(input)
		if err == nil && m == nil {
			err = errors.New("no match")
		}
		return err
	}
	return engine{
		"regexp2",
		func() error { return match(strings.Repeat("a", 60) + "!") },
		func() error { return errors.Join(match("aaa"), equal(match("aab") == nil, false)) },
	}
}

func sortSlice(x []int, compare func(a, b int) int) {
	sort.Slice(x, func(i, j int) bool { return compare(x[i], x[j]) < 0 })
}

// comparator does not end once half of the slice is in some order.
func comparator(name string, by func([]int, func(a, b int) int)) engine {
	const n = 1000
	x := make([]int, n)
	for i := range x {
		x[i] = (i * 7919) % n
	}
	return engine{
		name,
		func() error {
			calls := 0
			by(x, func(a, b int) int {
				if calls++; calls > n {
					spin()
				}
				return b - a
			})
			return nil
		},
		func() error {
			sorted := slices.Clone(x)
			by(sorted, func(a, b int) int { return a - b })
			for i, v := range sorted {
				if v != i { // nothing was lost half-way, and nothing is there twice
					return fmt.Errorf("element %d is %d", i, v)
				}
			}
			return nil
		},
	}
}

// endless is a json.Marshaler.
type endless struct{ Levels int }

func (e endless) MarshalJSON() ([]byte, error) {
	if e.Levels > 0 {
		return json.Marshal([]any{"half a text", endless{e.Levels - 1}})
	}
	spin()
	return nil, nil
}

func marshaler() engine {
	return engine{
		"json.Marshaler",
		func() error {
			_, err := json.Marshal(map[string]any{"a": 1, "b": endless{3}})
			return err
		},
		tryJSON,
	}
}

// values is encoding/json itself, with what it keeps about pointers that it has met.
func values() engine {
	type list struct{ Next, Same *list }
	var deep *list
	for range 40 {
		deep = &list{deep, deep} // a tree of 2^40 nodes
	}
	return engine{
		"json.Marshal",
		func() error {
			_, err := json.Marshal(deep)
			return err
		},
		tryJSON,
	}
}

func tryJSON() error {
	text, err := json.Marshal(map[string]any{"a": []int{1, 2}, "b": &struct{ C string }{"<"}})
	return errors.Join(err, equal(string(text), `{"a":[1,2],"b":{"C":"\u003c"}}`))
}

// templateFunc uses the same template before and after.
func templateFunc() engine {
	wait := true
	t := template.Must(template.New("t").Funcs(template.FuncMap{"f": func() string {
		if wait {
			spin()
		}
		return "f"
	}}).Parse(`{{range .}}{{.}}{{f}} {{end}}`))
	execute := func(w bool) (string, error) {
		wait = w
		var b strings.Builder
		err := t.Execute(&b, []int{1, 2})
		return b.String(), err
	}
	return engine{
		"text/template function",
		func() error { _, err := execute(true); return err },
		func() error {
			text, err := execute(false)
			return errors.Join(err, equal(text, "1f 2f "))
		},
	}
}

// endlessTemplate is text/template itself.
func endlessTemplate() engine {
	t := template.Must(template.New("t").Parse(`{{define "r"}}{{if .}}{{range .}}{{template "r" .}}{{end}}{{else}}.{{end}}{{end}}{{template "r" .}}`))
	var deep []any
	for range 40 {
		deep = []any{deep, deep}
	}
	return engine{
		"text/template",
		func() error { return t.Execute(new(strings.Builder), deep) },
		func() error {
			var b strings.Builder
			err := t.Execute(&b, []any{[]any{}, []any{[]any{}}})
			return errors.Join(err, equal(b.String(), ".."))
		},
	}
}

// mutex is thrown out of, but not while it is locked.
func mutex() engine {
	var mu sync.Mutex
	halfway := false
	return engine{
		"sync.Mutex",
		func() error {
			for more := times(1 << 60); more(); {
				mu.Lock()
				halfway = true
				for more := times(10_000); more(); {
				}
				halfway = false
				mu.Unlock()
			}
			return nil
		},
		func() error {
			if !mu.TryLock() {
				return errors.New("it is left locked")
			}
			defer mu.Unlock()
			return equal(halfway, false)
		},
	}
}

// reading is thrown out of while it holds a lock for reading, which a deferred call releases. The
// lock is held by the function of the loop, and by one that calls another.
func reading() engine {
	var mu sync.RWMutex
	read := func(work func()) {
		mu.RLock()
		defer mu.RUnlock()
		work()
	}
	return engine{
		"sync.RWMutex",
		func() error {
			read(func() {
				mu.RLock()
				defer mu.RUnlock()
				for more := true; more; {
				}
			})
			return nil
		},
		func() error {
			if !mu.TryLock() {
				return errors.New("it is left locked")
			}
			mu.Unlock()
			return nil
		},
	}
}

// machine holds its lock while it runs, as an interpreter does.
type machine struct {
	mu    sync.Mutex
	steps int
}

func (m *machine) run() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.steps >= 0 {
		m.steps = (m.steps + 1) % 1000
	}
}

// runOne runs a machine that only it has.
func runOne() {
	m := &machine{}
	m.run()
}

// machines are thrown out of with their locks, which are lost with them.
func machines() engine {
	return engine{
		"a machine's lock",
		func() error { runOne(); return nil },
		func() error { return nil },
	}
}

// times is a condition that holds so often.
func times(n int) func() bool {
	return func() bool { n--; return n >= 0 }
}

// recovering swallows a throw, which comes again at the next safe point: in the loop.
func recovering() engine {
	begun, swallowed := 0, 0
	return engine{
		"recover",
		func() error {
			for {
				func() {
					defer func() {
						if recover() != nil {
							swallowed++
						}
					}()
					begun = 1 // the throw did not come before the call
					spin()
				}()
			}
		},
		func() error {
			defer func() { begun, swallowed = 0, 0 }()
			return equal(swallowed, begun)
		},
	}
}
