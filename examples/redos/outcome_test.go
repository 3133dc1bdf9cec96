package main

import (
	"errors"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

func TestSummarize(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	l := load{WarmUp: s, Cases: 4, AttackRate: 1, Attacks: true}
	cases := []evilCase{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}
	schedule := []request{{0, ping}, {1 * s, ping}, {1 * s, 0}, {2 * s, 1}, {3 * s, 2}, {4 * s, 3}, {4 * s, ping}}
	samples := []sample{
		{finished: 9 * s}, // a warm-up ping does not count
		{sent: 1*s + 1, finished: 1*s + 7, end: answered},                   // it took 7 from its intended start
		{sent: 1 * s, end: stopped, took: limit + ms},                       //
		{sent: 2 * s, end: answered, took: 5 * s, benign: errors.New("no")}, //
		{sent: 3 * s, end: unanswered, benign: errNoAnswer},                 //
		{sent: 4 * s, end: stopped, took: limit + 3*ms},                     //
		{err: errors.New("lost")},
	}
	want := outcome{
		Pings:   loadtest.Latencies{Count: 1, P50: 7, P99: 7, P99_9: 7, Max: 7},
		Attacks: 4, Stopped: 2, Answered: 1,
		Lateness: loadtest.Latencies{Count: 2, P50: ms, P99: 3 * ms, P99_9: 3 * ms, Max: 3 * ms},
		Escaped:  "b", Benign: 2, Wrong: "b: no", Late: 1, Requests: 6, Errors: 1, FirstErr: "lost",
	}
	if got := summarize(l, cases, schedule, samples); got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestSchedule(t *testing.T) {
	l := load{Cases: 5, PingRate: 100, AttackRate: 10, WarmUp: time.Second, Attacks: true, Seed: seed}
	if l.end() != 1500*time.Millisecond {
		t.Errorf("the schedule ends at %v; want 1.5s", l.end())
	}
	var attacks, pings []request
	last := time.Duration(0)
	for _, r := range l.schedule() {
		if r.at < last || r.at >= l.end() {
			t.Fatalf("a request at %v after one at %v", r.at, last)
		}
		if last = r.at; r.attack == ping {
			pings = append(pings, r)
		} else {
			attacks = append(attacks, r)
		}
	}
	if len(attacks) != 5 || attacks[0] != (request{time.Second, 0}) || attacks[4] != (request{1400 * time.Millisecond, 4}) {
		t.Errorf("attacks %v; want one every 100ms from 1s on", attacks)
	}
	l.Attacks = false
	if got := l.schedule(); len(got) != len(pings) || got[0] != pings[0] {
		t.Error("attacks change the schedule of the pings")
	}
}
