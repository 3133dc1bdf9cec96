package longtest

import (
	"os"
	"strings"
	"testing"
)

// TestLongFormsAreRun checks that the continuous integration and a target of make run the long
// forms, so that no test is lost.
func TestLongFormsAreRun(t *testing.T) {
	for file, want := range map[string]string{
		"../../.ci/run": "\nexport " + Variable + "=1 ", "../../Makefile": "\t" + Variable + "=1 go test ./...\n",
		"../../CONTRIBUTING.md": "make long ",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s does not contain %q", file, want)
		}
	}
}

func TestOff(t *testing.T) {
	for value, want := range map[string]bool{"": true, "0": true, "1": testing.Short()} {
		t.Setenv(Variable, value)
		if Off() != want {
			t.Errorf("%s=%q: off is %t", Variable, value, !want)
		}
		if n := Count(9, 1); (n == 1) != want || n != 1 && n != 9 {
			t.Errorf("%s=%q: the count is %d", Variable, value, n)
		}
		if n := len(Cases([]int{1, 2, 3}, 1)); (n == 1) != want || n != 1 && n != 3 {
			t.Errorf("%s=%q: %d cases", Variable, value, n)
		}
	}
}
