package main

import (
	"fmt"
	"io"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// figures is the JSON object of a mode.
type figures struct {
	Mode            string  `json:"mode"`
	Runs            int     `json:"runs"`
	Goodput         float64 `json:"goodput_per_s"`
	CriticalP99us   int64   `json:"critical_p99_us"`          // refused or without a response: 1 s
	AnsweredP99us   int64   `json:"critical_answered_p99_us"` // of requests with a response
	FirstActionus   int64   `json:"first_action_us"`
	RunsWithActions int     `json:"runs_with_actions"`
	Sent            int     `json:"sent"`
	Good            int     `json:"good"`
	Refused         int     `json:"refused"`
	Expired         int     `json:"expired"`
	CriticalSent    int     `json:"critical_sent"`
	CriticalGood    int     `json:"critical_good"`
	NormalSent      int     `json:"normal_sent"`
	NormalGood      int     `json:"normal_good"`
	PaidSent        int     `json:"normal_paying_sent"`
	PaidGood        int     `json:"normal_paying_good"`
	FreeSent        int     `json:"normal_free_sent"`
	FreeGood        int     `json:"normal_free_good"`
	BatchSent       int     `json:"batch_sent"`
	BatchGood       int     `json:"batch_good"`
	loadtest.Cost
}

// display shows the progress and the results.
type display struct {
	console *loadtest.Console
	results *loadtest.Results
}

func newDisplay(stdout, stderr io.Writer, json bool) *display {
	return &display{loadtest.NewConsole(stderr), loadtest.NewResults(stdout, json,
		"mode", "goodput", "critical p99", "of those answered", "first action", "good: critical", "normal: paying", "free", "batch", "refused", "too late")}
}

func (d *display) progress(m mode, round, rounds int, l load, p progress) {
	phase := "surge"
	if p.Elapsed < l.WarmUp {
		phase = "calm"
	}
	total := l.WarmUp + l.Duration
	head := fmt.Sprintf("round %d of %d, %s", round, rounds, m.Name)
	d.console.Progress(head+": "+m.About, fmt.Sprintf("%-32s %-5s %4.1f of %.1f s, %5d good responses and %5d others",
		head, phase, min(p.Elapsed, total).Seconds(), total.Seconds(), p.Good, p.Others))
}

// result shows the figures of a mode.
func (d *display) result(m mode, s summary) {
	d.console.Late(m.Name, s.Late)
	d.console.Clear()
	action := "none"
	if s.Acted > s.Runs/2 {
		action = loadtest.Ms(s.FirstAction)
	}
	d.results.Add(figures{
		Mode: m.Name, Runs: s.Runs, Goodput: s.Goodput,
		CriticalP99us: s.P99.Microseconds(), AnsweredP99us: s.P99Answered.Microseconds(),
		FirstActionus: s.FirstAction.Microseconds(), RunsWithActions: s.Acted,
		Sent: s.Sent, Good: s.Good, Refused: s.Refused, Expired: s.Expired,
		CriticalSent: s.SentOf[0], CriticalGood: s.GoodOf[0],
		NormalSent: s.SentOf[1], NormalGood: s.GoodOf[1],
		PaidSent: s.Paid.Sent, PaidGood: s.Paid.Good, FreeSent: s.Free.Sent, FreeGood: s.Free.Good,
		BatchSent: s.SentOf[2], BatchGood: s.GoodOf[2],
		Cost: s.Used.Each(s.Requests),
	}, m.Name, fmt.Sprintf("%.0f/s", s.Goodput), loadtest.Ms(s.P99), loadtest.Ms(s.P99Answered), action,
		share(s.GoodOf[0], s.SentOf[0]), share(s.Paid.Good, s.Paid.Sent), share(s.Free.Good, s.Free.Sent), share(s.GoodOf[2], s.SentOf[2]),
		share(s.Refused, s.Sent), share(s.Expired, s.Sent))
}

func share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(of))
}
