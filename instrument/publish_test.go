package instrument

import (
	"slices"
	"strings"
	"testing"
)

const publishing = `package p

import (
	"sync"
	"sync/atomic"
)

type schema struct {
	fields []*field
	err    error
	by     map[string]*field
	done   chan struct{}
	mu     sync.Mutex
	wg     sync.WaitGroup
	n      int
	f      *future1
}

type future1 struct {
	err   error
	ready chan int
}

type field struct{ name string }

var (
	cache sync.Map
	known = map[string]*schema{}
	mu    sync.Mutex
	now   atomic.Pointer[schema]
	seen  func() error

	channels = map[string]chan int{}
	compute  func(key string) int
)

func (s *schema) add(f *field) { s.by[f.name] = f }

func (s *schema) parse() { s.each(func(f *field) { s.add(f) }) }

func (s *schema) each(do func(f *field)) {
	for _, f := range s.fields {
		do(f)
	}
}

func (s *schema) length() int { return len(s.fields) }

func (s *schema) count() {
	s.mu.Lock()
	s.n++
	s.mu.Unlock()
}

func (s *schema) serve(in chan int) {
	for {
		s.n = <-in
	}
}

func fill(s *schema, name string) { s.by[name] = nil }

func look(s *schema) bool { return s.err == nil }

func loadOrStore(key string) *schema {
	s := &schema{}
	s.parse()
	if v, loaded := cache.LoadOrStore(key, s); loaded { // kept
		return v.(*schema)
	}
	for _, f := range s.fields { // kept
		if look(s) { // kept
			s.add(f) // kept
		}
	}
	return s
}

func complete(key string) {
	s := &schema{}
	s.parse()
	cache.Store(key, s)
	seen()
	look(s)
	s.length()
	s.count()
}

func called(key string) {
	s := &schema{}
	cache.Store(key, s)
	seen()    // kept
	s.parse() // kept
	seen()
}

func passed(key string) {
	s := &schema{}
	cache.Store(key, s)
	fill(s, key) // kept
}

func aliased(key string) {
	s := &schema{}
	cache.Store(key, s)
	seen()                       // kept
	for _, f := range s.fields { // kept
		f.name = key // kept
	}
}

func underLock(key string) {
	s := new(schema)
	mu.Lock()
	known[key] = s
	mu.Unlock()                      // kept
	s.fields = append(s.fields, nil) // kept
	s.err = seen()                   // kept
	seen()
}

func localMap(key string) {
	s, m := new(schema), map[string]*schema{}
	m[key] = s
	s.err = seen()
}

func inALoop(keys []string) {
	for _, key := range keys {
		s := new(schema)
		s.err = seen()
		cache.Store(key, s)
		seen()
	}
}

func assigned(key string) {
	s := new(schema)
	cache.Store(key, s)
	s = new(schema)
	s.err = seen()
}

func branches(key string, n int) {
	s := new(schema)
	cache.Store(key, s)
	if n > 3 { // kept
		seen()
		return
	}
	s.n = n // kept
}

func pointer() {
	s := new(schema)
	now.Store(s)
	seen()  // kept
	s.n = 1 // kept
}

func literal(key string) {
	var f func() int
	var wg sync.WaitGroup
	wg.Add(1)
	cache.Store(key, func() int { wg.Wait(); return f() })
	seen()                      // kept
	f = func() int { return 1 } // kept
	wg.Done()                   // kept
	seen()
}

func closed(key string) {
	s := &schema{done: make(chan struct{})}
	cache.Store(key, s)
	seen()        // kept
	close(s.done) // kept
}

func takenBack(key string) {
	s := new(schema)
	cache.Store(key, s)
	defer cache.Delete(key)
	s.n = 1
}

func takenBackByALiteral(key string) {
	s := new(schema)
	mu.Lock()
	known[key] = s
	mu.Unlock()
	defer func() {
		mu.Lock()
		delete(known, key)
		mu.Unlock()
	}()
	s.n = 1
}

func takenBackAtTimes(key string) {
	s := new(schema)
	cache.Store(key, s)
	defer func() { // kept
		if s.err != nil {
			cache.Delete(key)
		}
	}()
	s.err = seen() // kept
}

func served(key string, in chan int) {
	s := new(schema)
	cache.Store(key, s)
	s.serve(in)
}

func future(key string) int {
	mu.Lock()
	ch, found := channels[key]
	if !found {
		ch = make(chan int, 1)
		channels[key] = ch
	}
	mu.Unlock() // kept
	if !found { // kept
		ch <- compute(key) // kept
	}
	compute(key)
	return <-ch
}

func inAField(s *schema) {
	f := &future1{ready: make(chan int)}
	s.mu.Lock()
	s.f = f
	s.mu.Unlock() // kept
	f.err = seen() // kept
	f.ready <- 1 // kept
	seen()
}

func closedChannel(key string) {
	ch := make(chan int)
	mu.Lock()
	channels[key] = ch
	mu.Unlock() // kept
	seen() // kept
	close(ch) // kept
}

func subscribed(key string, events chan int) {
	ch := make(chan int)
	mu.Lock()
	channels[key] = ch
	mu.Unlock()
	for e := range events {
		ch <- e
	}
}

func received(key string) {
	ch := make(chan int)
	mu.Lock()
	channels[key] = ch
	mu.Unlock()
	seen()
	<-ch
}

func eachFuture(keys []string) {
	for _, key := range keys {
		ch := make(chan int, 1)
		mu.Lock()
		channels[key] = ch
		mu.Unlock() // kept
		ch <- compute(key) // kept
	}
}

func copied(key string) {
	var s schema
	cache.Store(key, s.n)
	s.n = 3
}

func address(key string) {
	var s schema
	cache.Store(key, &s)
	s.n = 3 // kept
}
`

// TestPublished checks that lines are registered where a value is published and will be written,
// and only there.
func TestPublished(t *testing.T) {
	r := decidedText(t, publishing)
	told := map[int]bool{}
	for _, c := range r.codes {
		for _, k := range c.kept {
			for _, s := range k.spans {
				for _, at := range r.linesOf(s) {
					told[at.line] = true
					if !r.ends[at] {
						t.Errorf("line %d is not told", at.line)
					}
				}
			}
		}
	}
	for i, line := range strings.Split(publishing, "\n") {
		if want := strings.Contains(line, "// kept"); told[i+1] != want && !spansLines(line) {
			t.Errorf("line %d, kept %v: %s", i+1, told[i+1], line)
		}
	}
}

// spansLines reports whether a line continues a statement that starts on an earlier line.
func spansLines(line string) bool {
	return slices.Contains([]string{"if s.err != nil {", "cache.Delete(key)", "}", "}()"}, strings.TrimSpace(line))
}
