package document

import (
	"fmt"
	"strings"
	"testing"
)

// given is what a file of tests gives.
func TestGivenFigures(t *testing.T) {
	read := func(given string) (map[string]any, error) {
		tests, err := ReadTests(strings.NewReader("version: 1\ndocuments: [a.yaml]\ntests:\n  - name: x\n    given:\n      " + given + "\n    events: [{at: 0s, on: start, expect: continue()}]\n"))
		if err != nil {
			return nil, err
		}
		values := map[string]any{}
		for path, given := range tests.Tests[0].Given {
			values[path] = given.Value
		}
		return values, nil
	}
	for given, want := range map[string]string{
		`class.busy: 3`:                     `map[class.busy:3]`,
		`queue.wait: {0.99: 20ms}`:          `map[queue.wait(0.99):20ms]`,
		`queue.wait: {"0.99, 10s": 20ms}`:   `map[queue.wait(0.99):20ms]`,
		`class.wait: {"0.5,30s": 20ms}`:     `map[class.wait(0.5, duration("30s")):20ms]`,
		`rate: {"served, 5m": 3}`:           `map[rate("served", duration("5m0s")):3]`,
		`average: {"last, 10s": 3ms}`:       `map[average("last", duration("10s")):3ms]`,
		`average: {"last, 10s": 3ms, a: 1}`: `"a" has no window; write average: {"a, 10s": ...}`,
		`queue.wait: {0.50: 2s, 0.5: 3s}`:   `queue.wait(0.5) is given twice`,
		`queue.wait: 20ms`:                  `queue.wait is`,
		`queue.wait: {p99: 20ms}`:           `"p99" is not a quantile; write queue.wait: {0.99: 20ms}`,
		`queue.wait: {1: 20ms}`:             `"1" is not a quantile`,
		`queue.wait: {0.5: 3}`:              `a duration is wanted`,
		`queue.wait: {0.5: -3s}`:            `queue.wait is 0s to`,
		`queue.wait: {"0.5, 1h, 2": 3s}`:    `"1h, 2" is not a window`,
		`queue.wait: {"0.5, 1000h": 3s}`:    `"1000h" is not a window between 10ms and 168h0m0s`,
		`rate: {"served, 5": 3}`:            `"5" is not a window`,
		`rate: {"served, 5m": 3ms}`:         `stands where a number is wanted`,
	} {
		got, err := read(given)
		if s := fmt.Sprint(got, err); !strings.Contains(s, want) {
			t.Errorf("%s: %s; want %s", given, s, want)
		}
	}
}
