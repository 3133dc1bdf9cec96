package loadtest

import (
	"slices"
	"strings"
	"testing"
)

func TestParseCores(t *testing.T) {
	allowed := []int{0, 1, 2, 3, 6}
	for list, want := range map[string][]int{"0": {0}, "0,2-3": {0, 2, 3}, "1-2,2,6": {1, 2, 6}} {
		got, err := parseCores(list, allowed)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("parseCores(%q) = %v, %v; want %v", list, got, err, want)
		}
	}
	for _, list := range []string{"", "x", "0,", "3-2", "4", "2-6", "-1"} {
		if got, err := parseCores(list, allowed); err == nil {
			t.Errorf("parseCores(%q) = %v; want an error", list, got)
		}
	}
}

func TestBadPlaces(t *testing.T) {
	for _, flag := range []string{"", "0", "0:", "1-0:0", "0:99999", "0-999999999:0"} {
		if p, _, err := Place(flag); err == nil || !strings.HasPrefix(err.Error(), "-cpus "+flag+": ") {
			t.Errorf("Place(%q) = %v, %v; want an error that names the flag", flag, p, err)
		}
	}
	if p, note, err := Place("none"); err != nil || note != "" || p.ServerCores() < 1 {
		t.Errorf("none: %v, %q, %v", p, note, err)
	}
}
