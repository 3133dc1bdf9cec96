package loadtest

import (
	"runtime"
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
	for flag, want := range map[string]string{"0": "-cpus 0: this process may use", "-1": "-cpus -1: ", "99999": "want 1 to ", "2-": "-cpus 2-: want a number of cores for the server, or SERVER:GENERATOR"} {
		if _, _, err := Place(flag); err == nil || runtime.GOOS == "linux" && !strings.Contains(err.Error(), want) {
			t.Errorf("Place(%q): error %v; want one with %q", flag, err, want)
		}
	}
	if p, note, err := Place("none"); err != nil || note != "" || p.ServerCores() < 1 {
		t.Errorf("none: %v, %q, %v", p, note, err)
	}
}

// TestPlaceCores checks that a number of cores is the server's, that the remaining cores are the
// generator's, and that a generator without cores shares the server's, with a note.
func TestPlaceCores(t *testing.T) {
	allowed := []int{0, 1, 2, 5}
	for n, want := range map[int]Placement{1: {[]int{5}, []int{0, 1, 2}}, 3: {[]int{1, 2, 5}, []int{0}}, 4: {allowed, allowed}} {
		p, note, err := placeCores(n, allowed)
		if err != nil || !slices.Equal(p.Server, want.Server) || !slices.Equal(p.Generator, want.Generator) || (note != "") != (n == 4) {
			t.Errorf("%d cores: %v, %q, %v; want %v", n, p, note, err, want)
		}
	}
}
