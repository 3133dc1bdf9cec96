package cocoon

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/notify"
)

// A limit counts the running time of tasks that run in short pieces and wait unannounced in
// between, as other tasks wait for slots: it throws into none that needs a fifth of it, and into
// each that needs five times as much.
func TestShortPiecesBetweenWaits(t *testing.T) {
	goroutine.Learn()
	if !kernel.ThreadTells || !goroutine.CanTell() {
		t.Skip("the system does not tell a thread's processor time, or the status of goroutines")
	}
	if underRace {
		t.Skip("a safe point takes longer than a piece of work")
	}
	const limit, tasks = 20 * time.Millisecond, 12
	for _, c := range []struct {
		name  string
		piece time.Duration
		need  time.Duration
		fits  func(thrown int) bool
	}{
		{"innocent", 20 * time.Microsecond, limit / 5, func(thrown int) bool { return thrown <= tasks/4 }},
		{"guilty", 100 * time.Microsecond, 5 * limit, func(thrown int) bool { return thrown == tasks }},
	} {
		rt := start(t, Config{Slots: 2})
		_, err := rt.RegisterTimeLimit(TimeLimit{Func: "job", Limit: limit})
		must(t, err)
		n, thrown := perMillisecond()*int64(c.piece)/int64(time.Millisecond), 0
		for range tasks / 4 {
			var all [4]*Handle
			for i := range all {
				all[i] = rt.Go(background, "job", func(ctx context.Context) error {
					for range c.need / c.piece {
						sink.Add(count(n))
						SafePoint(ctx)
						time.Sleep(200 * time.Microsecond)
					}
					return nil
				})
			}
			for _, h := range all {
				var thrownInto *PreemptedError
				if err := h.Wait(background); errors.As(err, &thrownInto) {
					thrown++
				} else {
					must(t, err)
				}
			}
		}
		if !c.fits(thrown) {
			t.Errorf("%s: %d of %d were thrown", c.name, thrown, tasks)
		}
	}
}

// A series of surveys ends some time after a task last needed it, and a process that stood still is
// charged for the processor time that it used.
func TestSeriesOfSurveys(t *testing.T) {
	l := start(t, Config{Slots: 1}).Loop()
	l.lockAll()
	defer l.unlock()
	if at := l.makeSurvey(0); at != notify.Never {
		t.Fatalf("a survey at %d without a series", at)
	}
	const every = int64(time.Millisecond)
	now := notify.Now()
	if !l.survey.ask(every, now) || l.survey.ask(2*every, now) {
		t.Fatal("the first task that asks begins a series; a second does not")
	}
	surveys, asked := 0, now
	for range 10 * surveysUnasked {
		next := l.makeSurvey(now)
		if next == notify.Never {
			break
		}
		if next <= now || next > now+2*every {
			t.Fatalf("the next survey comes after %v", time.Duration(next-now))
		}
		surveys++
		now = next
	}
	if gone := now - asked; surveys < surveysUnasked/2 || gone < surveysUnasked*every || gone > (surveysUnasked+3)*every {
		t.Errorf("a series of %d surveys and %v after a task asked for it", surveys, time.Duration(gone))
	}
	if of := (&surveyed{series: l.survey.began}); l.survey.covers(of, 0) || l.survey.covers(nil, 0) {
		t.Error("a series that is over says something about a task")
	}
}
