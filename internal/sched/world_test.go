package sched

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// op is one call of the core by a shell, as a line of a scenario writes it.
type op struct {
	verb string
	task string
	with string        // the inner task of nest and unnest
	kind Kind          // of arrive and nest
	rank int64         // of arrive and rank
	bg   bool          // of arrive: it is a background task
	in   string        // the group of arrive
	cost time.Duration // of arrive
	d    time.Duration // of advance, and how long an adopted task has run
}

var kindNames = map[Kind]string{Atomic: "atomic", Preemptible: "preemptible", Safe: "safe", Preemptible | Safe: "both"}

func (o op) String() string {
	s := o.verb
	for _, name := range []string{o.task, o.with} {
		if name != "" {
			s += " " + name
		}
	}
	if o.kind != Atomic {
		s += " kind=" + kindNames[o.kind]
	}
	if o.rank != 0 {
		s += fmt.Sprintf(" rank=%d", o.rank)
	}
	if o.bg {
		s += " background=true"
	}
	if o.in != "" {
		s += fmt.Sprintf(" group=%s cost=%v", o.in, o.cost)
	}
	if o.d != 0 {
		s += " " + o.d.String()
	}
	return s
}

// actor is a task of the world, with its nesting.
type actor struct {
	Task
	name         string
	inner, outer *actor
	immune       int64 // until then it must not be switched out
}

// group is a group of the core, with the world's own account of it.
type group struct {
	Group
	class   Tally // counts the same tasks
	ended   int
	running int64 // of tasks that have ended
}

// world is a shell without goroutines: it knows what each task may do next, does it, and checks the
// core afterwards.
type world struct {
	cfg    Config
	c      *Core
	now    int64
	actors []*actor // arrived and not ended, in order of arrival
	ended  map[string]*actor
	groups map[string]*group

	jumpy  bool // the clock jumps, so times are not checked
	replay bool // repeats checked operations: the world keeps its records, and checks nothing

	holds    int
	usable   int
	wasHeld  bool // before the checked operation
	busyTime int64
	openedAt []int64 // by slot: when it was last opened
	passed   []int64 // by slot: since when its suspended tasks have been passed over

	passedOver map[line]int64 // when the oldest waiting task of a line last started
}

func newWorld(cfg Config) *world {
	return &world{
		cfg: cfg, c: NewCore(cfg), usable: cfg.Slots, ended: map[string]*actor{}, openedAt: make([]int64, cfg.Slots),
		passed: make([]int64, cfg.Slots), passedOver: map[line]int64{}, groups: map[string]*group{},
	}
}

func (w *world) find(name string) *actor {
	for _, a := range w.actors {
		if a.name == name {
			return a
		}
	}
	return nil
}

// do does o, which must be legal, and returns what a shell would see of it.
func (w *world) do(o op) (string, error) {
	before := w.picture()
	w.wasHeld = w.held()
	said, self := w.call(o)
	after := w.picture()
	granted := slices.Clone(w.c.Granted())
	if w.replay {
		w.checkOrder(before, append(granted, startedLent(before, after)...))
		w.follow(o, before, after)
		return said, nil
	}
	if err := w.checkGrants(before, after, granted, self); err != nil {
		return said, err
	}
	if !w.jumpy {
		if err := w.checkChoice(o, before, after, granted); err != nil {
			return said, err
		}
	}
	if err := w.checkState(); err != nil {
		return said, err
	}
	for _, t := range granted {
		said += fmt.Sprintf(" %s>%d", w.nameOf(t), t.Slot())
	}
	return strings.TrimSpace(said), nil
}

// call makes the call and returns a description of its result, and the task to which the result
// granted a slot, if any.
func (w *world) call(o op) (said string, self *actor) {
	a, b := w.find(o.task), w.find(o.with)
	switch o.verb {
	case "arrive":
		a = w.actor(o.task, o.kind)
		w.join(a, o)
		granted, refused := w.c.Arrive(&a.Task, w.now)
		w.c.SetRank(&a.Task, o.rank)
		if o.bg {
			w.c.SetBackground(&a.Task)
		}
		switch {
		case refused:
			w.end(a)
			return "refused", nil
		case granted:
			return fmt.Sprintf("at once>%d", a.Slot()), a
		}
		return "waits", nil
	case "open":
		i := w.c.Open()
		if i < 0 {
			return "none", nil
		}
		w.openedAt[i] = w.now
		return fmt.Sprintf("slot %d", i), nil
	case "shut":
		for i := range w.c.slots {
			if w.c.slots[i].open {
				w.c.Shut(i)
			}
		}
	case "adopt":
		a = w.actor(o.task, o.kind)
		w.c.Adopt(&a.Task, w.anOpenSlot(), w.now-int64(o.d))
		w.busyTime += int64(o.d)
		return fmt.Sprintf("in>%d", a.Slot()), a
	case "block":
		w.c.Block(&a.Task, w.now)
	case "unblock":
		return w.gotSlot(a, w.c.Unblock(&a.Task, w.now))
	case "yield":
		return w.gotSlot(a, w.c.Yield(&a.Task, w.now))
	case "suspend":
		may := w.c.MaySwitch(&a.Task, w.now)
		at, later := w.c.SwitchAt(&a.Task, w.now)
		did := w.c.Suspend(&a.Task, w.now)
		if did != may || did != (later && at == w.now) {
			panic(fmt.Sprintf("MaySwitch said %t, SwitchAt %d, %t, Suspend %t", may, at-w.now, later, did))
		}
		switch {
		case did:
		case later:
			return fmt.Sprintf("stays for %v", time.Duration(at-w.now)), nil
		default:
			return "stays", nil
		}
	case "startlent":
		if t := w.c.StartLent(w.now); t != nil {
			return w.nameOf(t) + " starts", nil
		}
		return "none", nil
	case "lend":
		w.c.Lend(&a.Task, w.now)
	case "surface":
		w.c.Surface(&a.Task, w.now)
	case "discount":
		before := a.Account(w.now)
		a.Discount(int64(o.d), o.rank != 0, w.now)
		after := a.Account(w.now)
		if off := before.Running - after.Running; off < 0 || after.Running < 0 || after.Blocked+after.Starved-before.Blocked-before.Starved != off {
			panic(fmt.Sprintf("a discount of %v made %+v of %+v", o.d, after, before))
		}
	case "nest":
		b = w.actor(o.with, o.kind)
		w.join(b, o)
		if !w.c.Nest(&a.Task, &b.Task, w.now) {
			w.drop(b) // it never arrived
			return "cannot nest", nil
		}
		a.inner, b.outer = b, a
		return fmt.Sprintf("%s nested, %s", b.name, kindNames[b.Kind]), b
	case "unnest":
		got := w.c.Unnest(&a.Task, &b.Task, w.now)
		a.inner = nil
		w.end(b)
		if got {
			return fmt.Sprintf("back>%d", a.Slot()), a
		}
		return "slot is gone", nil
	case "exit":
		w.c.Exit(&a.Task, w.now)
		w.end(a)
	case "withdraw":
		if !w.c.Withdraw(&a.Task, w.now) {
			return "too late", nil
		}
		w.end(a)
	case "rank":
		w.c.SetRank(&a.Task, o.rank)
	case "background":
		w.c.SetBackground(&a.Task)
	case "resize":
		w.usable = int(o.rank)
		w.c.Resize(w.usable, w.now)
	case "hold":
		w.c.Hold()
		w.holds++
	case "release":
		w.holds--
		w.c.Release(w.now)
	case "advance":
		for i := range w.c.slots {
			if w.c.Current(i) != nil {
				w.busyTime += int64(o.d)
			}
		}
		w.now += int64(o.d)
	case "account":
		acc := a.Account(w.now)
		d := func(ns int64) string { return time.Duration(ns).String() }
		return fmt.Sprintf("queued=%s running=%s suspended=%s blocked=%s preemptions=%d",
			d(acc.Queued), d(acc.Running), d(acc.Suspended), d(acc.Blocked), acc.Preemptions), nil
	case "load":
		l := w.c.Load(w.now)
		return fmt.Sprintf("busy=%d/%d waiting=%d safe=%d suspended=%d holds=%d oldest=%s busytime=%s", l.Busy, l.Slots,
			l.Waiting, l.WaitingSafe, l.Suspended, l.Holds, time.Duration(l.Oldest), time.Duration(l.BusyTime)), nil
	}
	return "", nil
}

func (w *world) gotSlot(a *actor, got bool) (string, *actor) {
	if got {
		return fmt.Sprintf("at once>%d", a.Slot()), a
	}
	return "waits", nil
}

func (w *world) actor(name string, k Kind) *actor {
	a := &actor{name: name}
	a.Reset(k)
	w.actors = append(w.actors, a)
	return a
}

// join puts a, which is about to arrive, into the group that o names.
func (w *world) join(a *actor, o op) {
	if o.in == "" {
		return
	}
	if w.groups[o.in] == nil {
		w.groups[o.in] = new(group)
	}
	a.Group, a.Cost, a.Expects = &w.groups[o.in].Group, int64(o.cost), int64(o.cost)
	a.CountIn(&w.groups[o.in].class)
}

func (w *world) drop(a *actor) {
	w.actors = slices.DeleteFunc(w.actors, func(x *actor) bool { return x == a })
}

func (w *world) end(a *actor) {
	w.drop(a)
	if a.outer != nil {
		a.outer.inner = nil
	}
	w.ended[a.name] = a
	for _, g := range w.groups {
		if a.Group == &g.Group {
			g.ended++
			g.running += a.Account(w.now).Running
		}
	}
}

func (w *world) nameOf(t *Task) string {
	for _, a := range w.actors {
		if &a.Task == t {
			return a.name
		}
	}
	return "?"
}

// String shows the slots, each with its task and the tasks suspended in it, and the waiting tasks
// in the order of the queue.
func (w *world) String() string {
	var b strings.Builder
	for i := range w.c.slots {
		s := &w.c.slots[i]
		b.WriteString("[")
		switch {
		case s.open:
			b.WriteString("open")
		case s.current == nil:
			b.WriteString("-")
		default:
			b.WriteString(w.nameOf(s.current))
		}
		for t := s.suspended.head; t != nil; t = t.next {
			b.WriteString(" /" + w.nameOf(t))
		}
		b.WriteString("] ")
	}
	for _, st := range []State{Queued, Ready, Blocked, Lent} {
		var in []*actor
		for _, a := range w.actors {
			if a.State() == st {
				in = append(in, a)
			}
		}
		if st == Queued || st == Ready {
			slices.SortFunc(in, func(x, y *actor) int {
				return cmp.Or(strings.Compare(fmt.Sprint(x.place.background), fmt.Sprint(y.place.background)),
					cmp.Compare(x.place.rank, y.place.rank), cmp.Compare(x.seq, y.seq))
			})
		}
		for i, a := range in {
			if i == 0 {
				b.WriteString(st.String() + ":")
			}
			b.WriteString(" " + a.name)
			if i == len(in)-1 {
				b.WriteString(" ")
			}
		}
	}
	return strings.TrimSpace(b.String())
}
