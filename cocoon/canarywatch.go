package cocoon

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/cocoon-go/cocoon/policy/document"
)

const (
	// fewest is how many tasks each side must have in the window before they are compared.
	fewest = 20
	// looksIn is how many looks at the figures come in a window.
	looksIn = 20
	// leastWait is the least difference of waiting times that counts.
	leastWait = time.Millisecond
)

// figures are the figures of a canary up to a moment.
type figures struct {
	throws int64 // and refusals, of the new versions
	side   [2]CanarySide
}

// figures returns the figures so far.
func (c *canary) figures() (f figures) {
	for _, v := range c.versions {
		st := &v.of.stats
		f.throws += st.throws.Load() + st.refusals.Load()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.side {
		s := &c.side[i]
		f.side[i] = CanarySide{s.ended, s.failed, s.queueing.snapshot()}
	}
	return f
}

// beginCanary watches the canary of a document that has come into force, if it is one. Called with
// regMu held.
func (rt *Runtime) beginCanary(path string, is *loadedDocument) {
	switch {
	case is.canary != nil:
		go rt.watchCanary(path, is)
	case is.source.Canary != nil:
		rt.log.add(slog.LevelWarn, "cocoon: canary applies to all tasks, because no document of the file was in force before", "file", is.file)
	}
}

// watchCanary looks at the figures of a canary until it is out of force, or the runtime ends.
func (rt *Runtime) watchCanary(path string, is *loadedDocument) {
	c := is.canary
	every := c.said.Rollback.Window / looksIn
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	window, told := []figures{c.figures()}, false // the oldest first
	for {
		select {
		case <-c.stop:
			return
		case <-rt.ctx.Done():
			return
		case <-ticker.C:
		}
		now := c.figures()
		if side := c.oneSided(now); side != "" && !told && time.Since(c.since) >= c.said.Rollback.Window {
			told = true
			rt.log.add(slog.LevelWarn, "cocoon: canary compares nothing so far: "+side, "file", is.file, "share", c.said.Share, "by", c.said.By,
				"canary", now.side[1].Ended, "rest", now.side[0].Ended)
		}
		why := c.erred()
		if why == "" {
			why = conditions(c.said.Rollback).holds(window[0], now)
		}
		if why != "" {
			rt.rollBack(path, is, why)
			return
		}
		if window = append(window, now); len(window) > looksIn {
			window = window[1:]
		}
	}
}

// oneSided tells of a side that has had no task, although it should have had at least fewest by
// its share; or it returns "". A label may be misspelt, and a few names or users may all be on the
// same side.
func (c *canary) oneSided(f figures) string {
	rest, own := f.side[0].Ended, f.side[1].Ended
	switch {
	case own == 0 && float64(rest)*c.said.Share >= fewest:
		return "no task has got its policies"
	case rest == 0 && float64(own)*(1-c.said.Share) >= fewest:
		return "all tasks have got its policies"
	}
	return ""
}

// erred returns the error of the first new version with one, or "". The condition needs no
// declaration: an evaluation that fails decides nothing, so the policy protects nothing.
func (c *canary) erred() string {
	for _, v := range c.versions {
		if v.erred.Load() {
			text := "its evaluation failed"
			if e := v.of.stats.lastError.Load(); e != nil {
				text = e.Error()
			}
			return fmt.Sprintf("policy %q: %s", v.of.name, text)
		}
	}
	return ""
}

// conditions is document.Rollback with its meaning.
type conditions document.Rollback

// holds returns the condition that holds between two moments, with its figures, or "".
func (r conditions) holds(from, to figures) string {
	if per := float64(to.throws-from.throws) / r.Window.Seconds(); r.Throws > 0 && per > r.Throws {
		return fmt.Sprintf("throws: the new versions threw or refused %.3g times a second over %v; the bound is %v", per, r.Window, r.Throws)
	}
	rest, own := to.side[0].minus(from.side[0]), to.side[1].minus(from.side[1])
	if own.Ended < fewest {
		return ""
	}
	few := rest.Ended < fewest
	if few && rest.Ended > 0 {
		return "" // the rest is too small to be compared with
	}
	if by := own.share() - rest.share(); r.Failed > 0 && by > r.Failed {
		return fmt.Sprintf("failed: %.3g %% of the canary's %d tasks failed, and %.3g %% of the other %d; the bound is %.3g %% more",
			100*own.share(), own.Ended, 100*rest.share(), rest.Ended, 100*r.Failed)
	}
	if r.Queueing == 0 || few || own.Queueing.Count() < fewest || rest.Queueing.Count() < fewest {
		return ""
	}
	x, y := own.Queueing.Quantile(0.99), rest.Queueing.Quantile(0.99)
	if x > y+leastWait && float64(x) > r.Queueing*float64(y) {
		return fmt.Sprintf("queueing: the canary's tasks waited %v at p99, and the others %v; the bound is %v times as long", x, y, r.Queueing)
	}
	return ""
}

// share returns the share of the tasks that failed.
func (s CanarySide) share() float64 { return float64(s.Failed) / float64(max(1, s.Ended)) }

// minus returns the counts added since before was taken.
func (s CanarySide) minus(before CanarySide) CanarySide {
	return CanarySide{s.Ended - before.Ended, s.Failed - before.Failed, s.Queueing.minus(before.Queueing)}
}

// stats returns the figures; c may be nil.
func (c *canary) stats() *CanaryStats {
	if c == nil {
		return nil
	}
	f := c.figures()
	return &CanaryStats{Share: c.said.Share, By: c.said.By, Since: c.since, Throws: f.throws, Cohort: f.side[1], Rest: f.side[0]}
}

// rollBack puts the document before a canary back in force, if the canary is.
func (rt *Runtime) rollBack(path string, is *loadedDocument, why string) {
	rt.loadMu.Lock()
	defer rt.loadMu.Unlock()
	rt.regMu.Lock()
	defer rt.regMu.Unlock()
	if rt.files[path] != is || rt.closing {
		return
	}
	base := is.canary.base
	to := &loadedDocument{source: base.source, file: is.file, text: base.text, rolledBack: is.text}
	c, err := rt.newChange(is, to)
	if err != nil { // code refers to what the canary has added: at least no task has it any more
		rt.log.add(slog.LevelError, "cocoon: canary cannot be taken out; it applies to no task", "file", is.file, "err", err)
		rt.pause(is)
	} else {
		rt.files[path] = c.commit()
	}
	rt.loads[path].RolledBack = why
	rt.loads[path].Rollbacks++
	rt.decisions.add(sortChange, &Decision{Kind: DecisionRollback, File: is.file, Reason: cutText(why, maxDecisionText)})
	rt.log.add(slog.LevelWarn, "cocoon: canary rolled back; the document before it is in force", "file", is.file, "why", why)
}

// pause gives all tasks to the rest. Called with regMu held.
func (rt *Runtime) pause(is *loadedDocument) {
	none := &cohort{}
	for _, v := range is.versions {
		if v.part != nil {
			v.part = &part{of: none, new: v.part.new}
			for _, b := range v.bounds {
				b.part.Store(v.part)
			}
		}
	}
	for _, l := range *rt.loops.Load() {
		l.lockAll() // evaluations in progress end
		l.unlock()
	}
}
