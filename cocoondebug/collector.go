package cocoondebug

import (
	"context"
	"errors"
	"io"
	"maps"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// collector makes the snapshots for all viewers of a handler, while there are any. Nothing else of
// the handler reads from the runtime.
type collector struct {
	rt     *cocoon.Runtime
	linger time.Duration // how long it goes on after the last look

	mu      sync.Mutex
	frame   *frame        // the latest; nil: there was no look for a while
	changed chan struct{} // closed when there is a newer frame
	number  uint64        // of the latest frame
	until   time.Time     // the collector runs until then, and while there are viewers
	ended   bool          // the runtime has shut down
	viewers Viewers
	ids     identities

	// The collecting goroutine owns the fields below, or look while there is no such goroutine.
	reader    *cocoon.DecisionReader
	after     uint64 // the last decision read
	decisions decisions
	lines     map[string]*timeline
	ticks     []*tick // the oldest first; the last one is under way
	colors    palette
	eof       bool
}

// lingers is collector.linger outside of tests: a page that is loaded again and again has a time
// line.
const lingers = 10 * time.Second

// maxViewers bounds the streams of a handler.
const maxViewers = 256

// look returns the latest frame. It starts the collector if it does not run.
func (c *collector) look() *frame {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.watch()
}

// watch is called with mu held.
func (c *collector) watch() *frame {
	c.until = time.Now().Add(c.linger)
	if c.frame == nil {
		c.begin()
		c.publish(c.collect())
		if !c.ended {
			go c.run()
		}
	}
	return c.frame
}

// begin starts from nothing, except for the known decisions.
func (c *collector) begin() {
	c.changed = make(chan struct{})
	c.reader = c.rt.Decisions(c.after)
	c.lines, c.ticks = map[string]*timeline{}, nil
	c.tick()
	c.sample()
	c.read()
}

// run collects until no viewer has looked for a while, or the runtime has shut down.
func (c *collector) run() {
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	for n := 1; ; n++ {
		<-ticker.C
		c.sample()
		c.read()
		if n%frameEvery != 0 && !c.eof {
			continue
		}
		f := c.collect()
		c.mu.Lock()
		c.publish(f)
		idle := c.viewers.Watching == 0 && time.Now().After(c.until)
		if idle && !c.ended {
			c.frame, c.lines, c.ticks = nil, nil, nil
		}
		over := idle || c.ended
		c.mu.Unlock()
		if over {
			return
		}
	}
}

// publish makes a frame the latest one. Called with mu held.
func (c *collector) publish(f *frame) {
	c.number++
	f.shown.Number, f.shown.Viewers, f.shown.Ended = c.number, c.viewers, c.eof
	c.frame, c.ended = f, c.eof
	close(c.changed)
	c.changed = make(chan struct{})
}

// sample looks at the slots.
func (c *collector) sample() {
	now := c.ticks[len(c.ticks)-1]
	loops, _ := first(c.rt.Loops(), maxLoops)
	for _, l := range loops {
		line := c.lines[l.Name()]
		if line == nil {
			line = new(timeline)
			c.lines[l.Name()] = line
		}
		line.add(l, now.loops[l.Name()].Slots)
	}
}

// readFor bounds the time for which the collector waits for decisions to come. Under a storm it
// bounds the time for which it reads.
const readFor = 5 * time.Millisecond

// read reads the decisions since the last time.
func (c *collector) read() {
	ctx, cancel := context.WithTimeout(context.Background(), readFor)
	defer cancel()
	now := c.ticks[len(c.ticks)-1]
	for {
		d, err := c.reader.Next(ctx)
		if err != nil {
			c.eof = errors.Is(err, io.EOF)
			return
		}
		c.after = d.Number
		c.decisions.add(d)
		if d.Time.After(c.ticks[0].at) {
			now.count(d)
		}
	}
}

// tick begins another tick.
func (c *collector) tick() (st cocoon.Stats) {
	st = c.rt.Stats()
	if len(c.ticks) > ticksKept {
		c.ticks = c.ticks[1:]
	}
	t := &tick{at: time.Now(), loops: map[string]cocoon.LoopStats{}, names: map[string]*counted{}}
	for _, l := range st.Loops {
		l.Tenants = nil
		t.loops[l.Name] = l
	}
	c.ticks = append(c.ticks, t)
	return st
}

// collect makes a frame.
func (c *collector) collect() *frame {
	st := c.tick()
	began, now := c.ticks[0], c.ticks[len(c.ticks)-1]
	s := &Snapshot{
		Time: now.at, Started: st.Started, Window: now.at.Sub(began.at), Mode: c.rt.Mode().String(),
		Live: st.Tasks, LinesLost: st.LinesLost, DecisionsLost: c.reader.Lost(),
		Unmet: []string{},
	}
	loops, moreLoops := first(st.Loops, maxLoops)
	s.MoreLoops = moreLoops
	for _, l := range loops {
		s.Loops = append(s.Loops, c.loop(l))
	}
	looked := c.lookedAt()
	c.names(s, looked)
	c.tasks(s, looked)
	c.policies(s, st)
	s.canaries(st)
	c.states(s, st)
	c.decisions.fill(s)
	c.gaps(s)
	unmet, more := first(st.Unmet, maxUnmet)
	s.Unmet, s.MoreUnmet = append(s.Unmet, unmet...), more
	c.colors.paint(s.Names)
	return &frame{shown: s}
}

// join lets a viewer in, if there is room. The viewer calls leave.
func (c *collector) join() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.viewers.Watching >= maxViewers {
		c.viewers.Refused++
		return false
	}
	c.viewers.Watching++
	return true
}

// leave is called when a viewer leaves: it was dropped, or its connection has ended.
func (c *collector) leave(dropped bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.viewers.Watching--
	if dropped {
		c.viewers.Dropped++
	}
	c.until = time.Now().Add(c.linger)
}

// next waits for a frame after frame number n, and returns nil when ctx ends.
func (c *collector) next(ctx context.Context, after uint64) *frame {
	for {
		c.mu.Lock()
		f := c.watch()
		changed := c.changed
		if n := f.shown.Number; n > after {
			if after > 0 {
				c.viewers.Skipped += n - after - 1
			}
			c.mu.Unlock()
			return f
		}
		c.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// sortedByCount returns the keys with the greatest values first.
func sortedByCount(counts map[string]int) []string {
	return sortedBy(maps.Keys(counts), func(name string) int64 { return int64(counts[name]) })
}
