package analyzer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/stubs"
)

// What a long list says narrows the values like a short one.
func TestSets(t *testing.T) {
	numbers := "[3, 4, 5, 6, 7, 8, 9, 10, 11]"
	names := `["a", "b", "c", "d", "e", "f", "g", "h", "i"]`
	for text, want := range map[string]string{
		"queue.length in " + numbers + " and queue.length > 2 ? switch() : continue()":                          "queue.length > 2 is always true: queue.length is 3 to 11 here",
		"queue.length in [-1, -2, -3, -4, -5, -6, -7, -8, -9] ? switch() : continue()":                          "is always false",
		"queue.length == 4 and queue.length in " + numbers + " ? switch() : continue()":                         "is always true",
		"queue.length == 12 and queue.length in " + numbers + " ? switch() : continue()":                        "is always false",
		"task.name in " + names + ` and task.name == "z" ? switch() : continue()`:                               "is always false: task.name is one of 9 names here",
		"task.name not in " + names + ` and task.name == "a" ? switch() : continue()`:                           "is always false: task.name is anything but 9 names here",
		`task.name == "a" and task.name in ` + names + " ? switch() : continue()":                               "is always true",
		"1 / queue.length > 0 and queue.length in " + numbers + " ? switch() : continue()":                      "division by zero: queue.length may be 0 here",
		"queue.length in " + numbers + " and 100 / queue.length > 20 or task.cancelled ? switch() : continue()": "",
	} {
		p, err := lang.Parse(text, testEnv)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Verify(p, Limits{})
		said := fmt.Sprint(err)
		for _, w := range v.Warnings() {
			said += w.Reason
		}
		if !strings.Contains(said, want) || want == "" && said != "<nil>" {
			t.Errorf("%s\nsays %s\nwant %s", text, said, want)
		}
	}
}

// The greatest sets are verified in time, and a time policy about names has ticks for these alone.
func TestGreatestSet(t *testing.T) {
	var list strings.Builder
	most := longtest.Count(lang.MaxConstants, 4000)
	for i := range most {
		fmt.Fprintf(&list, "%q, ", fmt.Sprint("customer ", i))
	}
	text := "task.name in [" + list.String() + `] and task.running > duration("1s") or task.cancelled and task.name != "a" ? throw("x") : continue()`
	p, err := lang.Parse(text, testEnv)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	v, err := Verify(p, Limits{Interval: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ways := v.Ways()
	if took := time.Since(begin); took > 2*time.Second || len(ways) != 2 {
		t.Errorf("%d ways after %v", len(ways), took)
	}
	names := 0
	for _, w := range ways {
		for _, f := range w.Fixed {
			if ids, ok := f.Names(); ok && f.Allows(uint64(stubs.Intern("customer 7"))) {
				names = len(ids)
			}
		}
	}
	if names != most {
		t.Errorf("a way is for %d names", names)
	}
}
