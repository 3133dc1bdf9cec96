package main

import (
	"errors"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestSummarize(t *testing.T) {
	l := load{WarmUp: time.Second}
	at := func(class int, offset time.Duration) request {
		return request{at: l.WarmUp + offset, class: class, pieces: 1}
	}
	schedule := []request{
		{at: 0, class: critical}, // before the surge
		at(0, 0), at(0, 0), at(0, 5*ms), at(0, 5*ms), at(1, 5*ms), at(1, 5*ms), at(2, 6*ms), at(2, 6*ms), at(2, 7*ms),
	}
	schedule[5].tenant = paying
	done := func(i int, took time.Duration, end ending) sample {
		return sample{sent: schedule[i].at + 1*ms, finished: schedule[i].at + took, end: end}
	}
	samples := []sample{
		done(0, 9*ms, refused),
		done(1, 3*ms, answered),
		done(2, 2*ms, refused),
		done(3, good, answered),
		done(4, time.Hour, unanswered),
		done(5, good+1, answered), // a right response, too late
		done(6, 20*ms, answered),
		done(7, 100*ms, expired),
		done(8, 1*ms, refused),
		{err: errors.New("wrong")},
	}
	o := summarize(l, schedule, samples)
	want := outcome{
		Sent: 8, Good: 3, GoodOf: [3]int{2, 1, 0}, SentOf: [3]int{4, 2, 2}, Refused: 2, Expired: 1,
		Paid: tally{1, 0}, Free: tally{1, 1}, Critical: o.Critical, Answered: o.Answered, Late: 1 * ms, Requests: 9, Errors: 1, FirstErr: "wrong",
	}
	if o != want {
		t.Errorf("%+v; want %+v", o, want)
	}
	if o.Critical.Count != 4 || o.Critical.P50 != good || o.Critical.P99 != lost || o.Answered.Count != 2 || o.Answered.P99 != good {
		t.Errorf("critical %+v, answered %+v", o.Critical, o.Answered)
	}
}

func TestFirstAfter(t *testing.T) {
	for _, c := range []struct {
		actions []int64
		want    time.Duration
		found   bool
	}{
		{nil, 0, false},
		{[]int64{99}, 0, false},
		{[]int64{99, 130, 107, 100}, 0, true},
		{[]int64{98, 130, 107}, 7, true},
	} {
		if got, found := firstAfter(c.actions, 100); found != c.found || found && got != c.want {
			t.Errorf("%v: %v, %t; want %v, %t", c.actions, got, found, c.want, c.found)
		}
	}
}

func TestSumUp(t *testing.T) {
	runs := []outcome{
		{Sent: 10, Good: 8, GoodOf: [3]int{5, 2, 1}, Paid: tally{2, 1}, Free: tally{2, 1}, FirstAction: 3 * ms, Acted: true, Late: 1},
		{Sent: 10, Good: 2, GoodOf: [3]int{1, 1, 0}, Late: 5},
		{Sent: 10, Good: 6, GoodOf: [3]int{4, 2, 0}, Paid: tally{3, 2}, FirstAction: 9 * ms, Acted: true},
	}
	s := sumUp(runs, 2*time.Second)
	if s.Goodput != 3 || s.Sent != 30 || s.Good != 16 || s.GoodOf != [3]int{10, 5, 1} || s.Late != 1 || s.Paid != (tally{5, 3}) || s.Free != (tally{2, 1}) {
		t.Errorf("%+v", s)
	}
	if s.FirstAction != 9*ms || s.Acted != 2 { // a run without an action counts as a late one
		t.Errorf("first action %v in %d runs", s.FirstAction, s.Acted)
	}
}
