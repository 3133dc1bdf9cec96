package sched

// Tally counts the tasks of a group or of a class, by their states. The shell makes tallies, and
// reads them one at a time, as it calls the core's methods.
type Tally struct {
	count [Done + 1]int
}

// CountIn counts t in a tally from now on, and no longer in its previous tally. nil means no tally.
func (t *Task) CountIn(y *Tally) {
	if t.class != nil && t.state != New {
		t.class.count[t.state]--
	}
	if t.class = y; y != nil && t.state != New {
		y.count[t.state]++
	}
}

// Live returns how many of the tasks have arrived and not ended.
func (y *Tally) Live() (n int) {
	for s := Queued; s < Done; s++ {
		n += y.count[s]
	}
	return n
}

// Waiting returns how many of them wait for a slot.
func (y *Tally) Waiting() int { return y.count[Queued] + y.count[Ready] }

// Busy returns how many of them run.
func (y *Tally) Busy() int { return y.count[Running] + y.count[Lent] }

// Ended returns how many tasks have ended, including tasks that never started.
func (y *Tally) Ended() int { return y.count[Done] }

func (y *Tally) move(from, to State) {
	if from != New {
		y.count[from]--
	}
	y.count[to]++
}
