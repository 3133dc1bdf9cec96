package instrument

import (
	"strings"
	"testing"
)

const fanningOut = `package p

import "sync"

var work func() error

type group struct{ n int }

func (g *group) Go(f func() error) { go f() }

func (g *group) Wait() error { return work() }

func waitGroup(n int) {
	var wg sync.WaitGroup
	work()
	for range n { // kept
		wg.Add(1)
		go func() {
			defer wg.Done()
			work()
		}()
		work() // kept
	}
	work() // kept
	wg.Wait()
	work()
}

func oneAfterTheOther(n int) {
	var wg sync.WaitGroup
	for range n {
		work()
		wg.Go(func() { work() })
		work() // kept
		wg.Wait()
		work()
	}
}

func errors() error {
	g := new(group)
	work()
	g.Go(work)
	if err := work(); err != nil { // kept
		work() // kept
	}
	return g.Wait() // kept
}

func sometimes() error {
	g := new(group)
	g.Go(work)
	if err := work(); err != nil {
		return err
	}
	return g.Wait() // kept
}

func panics() error {
	g := new(group)
	g.Go(work)
	if err := work(); err != nil { // kept
		panic(err)
	}
	return g.Wait() // kept
}

func byDefer() error {
	g := new(group)
	defer g.Wait()
	g.Go(work)
	return work()
} // kept: the deferred call

func pool(n int, jobs chan func()) {
	for range n {
		go func() {
			for j := range jobs {
				j()
			}
		}()
		work()
	}
}

func channel() {
	done := make(chan error)
	work()
	go func() { done <- work() }()
	work() // kept
	<-done
	work()
}

func closed() {
	done := make(chan error)
	serve := func() {
		defer close(done)
		work()
	}
	go serve()
	work() // kept
	<-done
	work()
}

func selected(quit chan int) {
	done := make(chan error)
	go func() { done <- work() }()
	work()
	select {
	case <-done:
		work()
	case <-quit:
		work()
	}
}

func selectedTwice(quit chan int) {
	done := make(chan error)
	go func() { done <- work() }()
	work() // kept
	select {
	case <-done:
		work()
	case <-quit:
		work() // kept
		<-done
		work()
	}
}

func two() {
	done := make(chan error)
	go func() { done <- work() }()
	go func() { done <- work() }()
	work() // kept
	<-done
	work() // kept
	<-done
	work()
}

func collected(n int) {
	results := make(chan error, n)
	for range n { // kept
		go func() { results <- work() }()
		work() // kept
	}
	work() // kept
	for range n { // kept
		<-results
		work() // kept
	}
	work()
}

func ranged(n int) {
	var wg sync.WaitGroup
	results := make(chan error)
	for range n { // kept
		wg.Go(func() { results <- work() })
		work() // kept
	} // kept: it stands for a call in one line with its literal
	go func() { wg.Wait(); close(results) }()
	for range results { // kept
		work() // kept
	}
	work()
}

func produced() {
	results := make(chan error)
	go func() {
		for {
			results <- work()
		}
	}()
	work()
	for range results {
		work()
	}
}

func oneForEach(n int) {
	for range n {
		done := make(chan error)
		go func() { done <- work() }()
		work() // kept
		<-done
		work()
	}
}

func walk(depth int) {
	var wg sync.WaitGroup
	var down func(int)
	down = func(n int) {
		wg.Go(func() { down(n - 1) })
	}
	down(depth) // kept
	work() // kept
	wg.Wait()
	work()
}

func passes() {
	var wg sync.WaitGroup
	start(&wg)
	work() // kept
	wg.Wait()
	work()
}

func start(wg *sync.WaitGroup) {
	wg.Add(1)
	go wg.Done()
	work()
}

func tasks(run func(func() error)) {
	var wg sync.WaitGroup
	wg.Go(func() {
		run(func() error { return work() })
	}) // kept: it stands for a call in one line with its literal
	run(func() error { return work() })
	run(func() error { // kept
		return work()
	})
	wg.Wait()
}

var inFlight sync.WaitGroup

func counted() error {
	work()
	inFlight.Add(1)
	err := work() // kept
	inFlight.Done()
	work()
	return err
}

func countedOnFailure() {
	inFlight.Add(1)
	if work() != nil {
		inFlight.Done()
	}
	work()
}

func ownToken(n int) {
	var wg sync.WaitGroup
	wg.Add(1)
	for range n { // kept
		wg.Go(func() { work() })
	} // kept: it stands for a call in one line with its literal
	work() // kept
	wg.Done()
	work() // kept
	wg.Wait()
	work()
}

type request struct{ answer chan int }

var requests chan *request

func asks() {
	q := &request{make(chan int)}
	work()
	requests <- q
	work() // kept
	<-q.answer
	work()
}

func asksOrQuits(quit chan int) {
	answer := make(chan int)
	work()
	select {
	case requests <- &request{answer}:
		work() // kept
	case <-quit:
		work()
		return
	}
	work() // kept
	select {
	case <-answer:
	case <-quit:
		work()
	}
	work()
}

func asksMany(n int) {
	answers := make(chan int)
	for range n { // kept
		requests <- &request{answers}
		work() // kept
	}
	for range n { // kept
		<-answers
		work() // kept
	}
	work()
}

func asksForever() {
	answers := make(chan int)
	for {
		requests <- &request{answers}
		work() // kept
		select {
		case <-answers:
		default:
		}
	}
}

func ring() {
	c := make(chan int, 1)
	for {
		work()
		c <- <-c
	}
}

func sends(quit chan int) {
	q := &request{make(chan int)}
	requests <- &request{make(chan int)}
	work()
	<-q.answer
}

type context interface{ Done() chan int }

func ended(ctx context, use func(context)) {
	use(ctx)
	work()
	<-ctx.Done()
	work()
}

func cond(c *sync.Cond) {
	go work()
	work()
	c.Wait()
}
`

// TestGoroutinesAwaited checks that lines are registered where goroutines work that the function
// waits for on every path, and only there.
func TestGoroutinesAwaited(t *testing.T) {
	r := decidedText(t, fanningOut)
	for i, line := range strings.Split(fanningOut, "\n") {
		if want := strings.Contains(line, "// kept"); r.ends[place{"a.go", i + 1}] != want {
			t.Errorf("line %d, kept %v: %s", i+1, !want, line)
		}
	}
}

// TestReasonsToAwait checks the reasons that cocoon gaps -keeps lists.
func TestReasonsToAwait(t *testing.T) {
	r := decidedText(t, fanningOut)
	why := map[string]string{}
	for _, c := range r.codes {
		for _, s := range c.fanned {
			why[c.name] = s.by.why(r)
		}
	}
	for of, want := range map[string]string{
		"waitGroup": "goroutines of wg work, and line 25 waits for them",
		"channel":   "goroutines use done, and line ",
		"asks":      "a goroutine has a request with q.answer, and line ",
		"ring":      "",
	} {
		if got := why[of]; !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", of, got, want)
		}
	}
}
