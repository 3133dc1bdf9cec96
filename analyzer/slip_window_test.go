package analyzer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/stubs"
)

// Two windows of one figure that are nearly the same.
func TestNearWindows(t *testing.T) {
	for cond, warns := range map[string]bool{
		`queue.wait(0.9) > duration("1s") and queue.wait(0.9, duration("11s")) < duration("2s")`:                      true,
		`rate("n", duration("60s")) > 9 and rate("n", duration("61s")) > 8`:                                           true,
		`average("n", duration("60s")) > 9 and average("n", duration("55s")) > 8`:                                     true,
		`queue.wait(0.9) > duration("1s") and queue.wait(0.9, duration("1m")) > duration("1s")`:                       false,
		`queue.wait(0.9, duration("10s")) > duration("1s") and queue.wait(0.9, duration("12500ms")) > duration("2s")`: false,
		`queue.wait(0.9) > duration("1s") and queue.wait(0.5, duration("11s")) < duration("2s")`:                      false,
		`queue.wait(0.9) > duration("1s") and class.wait(0.9, duration("11s")) < duration("2s")`:                      false,
		`rate("n", duration("60s")) > 9 and average("n", duration("61s")) > 8`:                                        false,
		`rate("n", duration("60s")) > 9 and rate("limit", duration("61s")) > 8`:                                       false,
	} {
		m := members(t, declared, on(stubs.Enqueue, cond+` and queue.length > 9 ? throw("x") : continue()`))
		if got := fmt.Sprint(m[0].Verified.Warnings()); strings.Contains(got, "are nearly the same") != warns {
			t.Errorf("%s: %s", cond, got)
		}
	}
}
