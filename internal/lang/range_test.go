package lang

import (
	"errors"
	"testing"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// The hint of a range whose bounds are the wrong way round can be pasted.
func TestEmptyRange(t *testing.T) {
	for expr, want := range map[string]string{
		`clock.hour in 22..6`:      `write (clock.hour >= 22 or clock.hour <= 6) in place of clock.hour in 22..6`,
		`clock.hour not in 22..6`:  `write (clock.hour >= 22 or clock.hour <= 6) in place of clock.hour in 22..6`,
		`clock.weekday in 5..1`:    `write (clock.weekday >= 5 or clock.weekday <= 1) in place of clock.weekday in 5..1`,
		`task.priority in 9..1`:    `write 1..9; or, for the numbers outside, (task.priority >= 9 or task.priority <= 1) in place of task.priority in 9..1`,
		`any(9..1, # > loop.busy)`: `write 1..9`,
	} {
		_, err := Parse(expr+` ? switch() : continue()`, Env{On: stubs.Start})
		var e *ir.Error
		if !errors.As(err, &e) || e.Hint != want {
			t.Errorf("%s: %v; want the hint %s", expr, err, want)
		}
	}
	if _, err := Parse(`(clock.hour >= 22 or clock.hour <= 6) ? switch() : continue()`, Env{On: stubs.Start}); err != nil {
		t.Error(err)
	}
}
