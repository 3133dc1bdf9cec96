package analyzer

import (
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// A time of the day that is compared by its parts, and tasks without a deadline.
func TestTimesByParts(t *testing.T) {
	const later, earlier = "it leaves out the first 30 minutes of each later hour", "it leaves out the last 29 minutes of each earlier hour"
	for cond, want := range map[string]string{
		`clock.hour >= 22 and clock.minute >= 30`:                                            "clock.hour >= 22 and clock.minute >= 30 is not a time of the day: " + later,
		`clock.hour > 21 and 30 <= clock.minute`:                                             later,
		`clock.hour <= 17 and queue.length > 3 and clock.minute <= 30`:                       earlier,
		`clock.hour in 9..17 and clock.minute <= 30`:                                         earlier,
		`clock.hour >= 22 and clock.minute >= 30 or clock.hour < 6`:                          later,
		`not (clock.hour < 22 or clock.minute < 30)`:                                         "",
		`clock.hour in 9..17 and clock.minute < 5`:                                           "",
		`clock.hour in 9..17 and clock.minute >= 55`:                                         "",
		`clock.hour in 9..17 and clock.minute in 20..40`:                                     "",
		`clock.hour == 22 and clock.minute >= 30`:                                            "",
		`clock.hour >= 23 and clock.minute >= 30`:                                            "",
		`clock.hour > 22 or clock.hour == 22 and clock.minute >= 30`:                         "",
		`clock.hour > 22 or clock.hour >= 22 and clock.minute >= 30`:                         "",
		`clock.hour >= 22 and (clock.hour > 22 or clock.minute >= 30)`:                       "",
		`clock.hour * 60 + clock.minute >= 22 * 60 + 30`:                                     "",
		`arriving.deadline > duration("1m") and queue.length > 9`:                            `arriving.deadline > duration("1m") also holds for tasks without a deadline`,
		`queue.length > 9 and duration("1m") < arriving.deadline`:                            `duration("1m") < arriving.deadline also holds`,
		`duration("1m") < arriving.deadline < duration("24h") and queue.length > 9`:          "",
		`not (arriving.deadline <= duration("1m")) and queue.length > 9`:                     "",
		`arriving.deadline > duration("0s") and arriving.cost > duration("1s")`:              "",
		`arriving.deadline > duration("240h") and queue.length > 9`:                          "",
		`arriving.deadline > queue.oldest and queue.length > 9`:                              "",
		`(arriving.deadline < duration("1s") or arriving.priority < 0) and queue.length > 9`: "",
	} {
		checkIdleNumber(t, LimitsOf(policy.Spec{}), cond, want)
	}
	unless := on(stubs.Enqueue, `clock.hour < 22 or clock.minute < 30 ? continue() : rank(1)`)
	unless.Zone = "UTC"
	for _, w := range members(t, declared, unless)[0].Verified.Warnings() {
		if w.Reason == "clock.hour < 22 or clock.minute < 30 is not a time of the day: "+later {
			return
		}
	}
	t.Error("no warning about the opposite")
}

// Days of the week compared as if Sunday were 7.
func TestWeekendOfOneDay(t *testing.T) {
	const alone = " on Saturday alone: Sunday is 0"
	for cond, want := range map[string]string{
		`clock.weekday > 5 and queue.length > 9`:                                        "clock.weekday > 5 is true" + alone,
		`6 <= clock.weekday and queue.length > 9`:                                       "is true" + alone,
		`clock.weekday < 6 and queue.length > 9`:                                        "clock.weekday < 6 is false" + alone,
		`let day = clock.weekday; day <= 5 and queue.length > 9`:                        "day <= 5 is false" + alone,
		`clock.weekday == 6 and queue.length > 9`:                                       "",
		`clock.weekday != 6 and queue.length > 9`:                                       "",
		`clock.weekday in 1..5 and queue.length > 9`:                                    "",
		`clock.weekday >= 1 and clock.weekday <= 5 and queue.length > 9`:                "",
		`(clock.weekday > 5 or clock.weekday == 0) and queue.length > 9`:                "",
		`(clock.weekday < 1 or clock.weekday > 5) and queue.length > 9`:                 "",
		`let day = clock.weekday; (day < 1 or day > 5) and queue.length > 9`:            "",
		`(clock.weekday > 5 or clock.weekday in [0, 3]) and queue.length > 9`:           "",
		`clock.weekday in 5..6 and queue.length > 9`:                                    "",
		`clock.weekday > 4 and queue.length > 9`:                                        "",
		`clock.weekday % 6 == 0 and queue.length > 9`:                                   "",
		`clock.weekday * 24 + clock.hour > 5 * 24 + 18 and queue.length > 9`:            "",
		`clock.weekday > 5 and queue.length > 9 or clock.weekday > 5 and loop.busy > 3`: "",
	} {
		checkIdleNumber(t, LimitsOf(policy.Spec{}), cond, want)
	}
}

// Hours without a zone.
func TestHoursWithoutZone(t *testing.T) {
	hours, minutes := on(stubs.Enqueue, `clock.hour > 8 ? rank(1) : continue()`), on(stubs.Enqueue, `clock.minute < 5 ? rank(1) : continue()`)
	if got := remarks(Together(members(t, declared, minutes, hours, hours))); len(got) != 1 || got[0] != `policy "p1": policy.expr:1:1: clock.hour is that of UTC, because no zone is declared` {
		t.Errorf("got %q", got)
	}
	hours.Zone = "UTC"
	if got := remarks(Together(members(t, declared, hours))); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}

// Hours up to one at which, by the reason, the time ends.
func TestLastHours(t *testing.T) {
	const four = ` and clock.hour in 2..4 do not agree: the hour is 4 until 4:59; write 3 in place of 4 for the last hour`
	for expr, want := range map[string]string{
		`clock.hour in 2..4 ? throw("maintenance until 4:00") : continue()`:                 `"maintenance until 4:00"` + four,
		`clock.hour in 2..4 ? continue() : throw("only from 2:00 to 4:00")`:                 `"only from 2:00 to 4:00"` + four,
		`clock.hour in 2..4 and queue.length > 9 ? throw("2-4 am") : continue()`:            `"2-4 am"` + four,
		`clock.hour >= 14 and clock.hour <= 16 ? throw("until 4 pm") : continue()`:          `"until 4 pm" and clock.hour <= 16 do not agree`,
		`let now = clock.hour; now in 2..4 ? throw("closed 2:00 – 04:00") : continue()`:     `do not agree: the hour is 4 until 4:59`,
		`clock.hour in 2..3 ? throw("maintenance until 4:00") : continue()`:                 "",
		`clock.hour >= 2 and clock.hour < 4 ? throw("maintenance until 4:00") : continue()`: "",
		`clock.hour in 2..4 ? throw("maintenance until 4:59") : continue()`:                 "",
		`clock.hour in 2..4 ? throw("maintenance") : continue()`:                            "",
		`clock.hour in 2..4 ? throw("at most 4 to 5 at once") : continue()`:                 "",
		`queue.length <= 4 and clock.hour in 2..3 ? throw("until 4:00") : continue()`:       "",
	} {
		s := policy.Spec{Name: "p", On: policy.On(stubs.Enqueue), Zone: "UTC", Expr: expr}
		found := ""
		p, err := s.Parse(declared, nil)
		if err != nil {
			t.Fatal(err)
		}
		a := newAnalysis(p, 0)
		a.statement(p.Root)
		for _, w := range a.lastHours() {
			found += w.Reason + "; " + w.Hint
		}
		if (found == "") != (want == "") || !strings.Contains(found, want) {
			t.Errorf("%s:\n got %s\nwant %s", expr, found, want)
		}
	}
}
