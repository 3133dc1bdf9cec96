package main

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

func TestGapsOptions(t *testing.T) {
	for _, c := range []struct {
		args string
		want gapsOptions
		rest string
		err  string
	}{
		{args: "", want: gapsOptions{count: gapsShown}},
		{args: "-n 5 -json -deps ./...", want: gapsOptions{count: 5, deps: true, json: true}, rest: "./..."},
		{args: "-n=0 -tags x -json", want: gapsOptions{count: 0}, rest: "-tags x -json"},
		{args: "--json -cocoon.pkgs=sort sort", want: gapsOptions{count: gapsShown, json: true}, rest: "-cocoon.pkgs=sort sort"},
		{args: "-run -n 1 . -json", want: gapsOptions{count: 1, run: true}, rest: ". -json"},
		{args: "-deps=true -json=false .", want: gapsOptions{count: gapsShown, deps: true}, rest: "."},
		{args: "-deps=perhaps .", err: `-deps="perhaps": want true or false`},
		{args: "-n", err: `-n "": want a number`},
		{args: "-n many", err: `-n "many": want a number`},
		{args: "-n=-1", err: `-n "-1": want a number`},
	} {
		var o gapsOptions
		rest, err := o.take(strings.Fields(c.args))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %q", c.args, err, c.err)
			}
			continue
		}
		if err != nil || o != c.want || strings.Join(rest, " ") != c.rest {
			t.Errorf("%s: %+v, %q, %v; want %+v, %q", c.args, o, rest, err, c.want, c.rest)
		}
	}
}

func TestGaps(t *testing.T) {
	if testing.Short() {
		t.Skip("it lets the go command build")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	type run struct {
		args     []string
		code     int
		out, err string // parts of the output
	}
	for _, c := range longtest.Cases([]run{
		{args: []string{"-h"}, out: "usage: cocoon gaps"},
		{args: []string{"-n", "x"}, code: 2, err: `cocoon gaps: -n "x": want a number`},
		{args: []string{"-cocoon.pkgs=", "."}, code: 2, err: "has an empty pattern; want package patterns"},
		{args: []string{"./nosuch"}, code: 1, err: "nosuch"},
		{args: []string{"-n", "0", "-cocoon.pkgs=sort", "sort"}, out: "sort.insertionSort  code: as far as line"},
		{args: []string{"-n=1", "-deps", "-cocoon.pkgs=sort,math/bits", "sort"}, out: "and "},
		{args: []string{"."}, out: "and "},
		{args: []string{"-n", "0", "."}, out: "unbounded  main.go:"},
	}, 5) {
		code, out, err := command("", append([]string{"gaps"}, c.args...)...)
		if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(err, c.err) {
			t.Errorf("cocoon gaps %s: exit code %d\n%s%swant %d, %q and %q", c.args, code, out, err, c.code, c.out, c.err)
		}
	}
	_, out, _ := command("", "gaps", "-json", "-n=0", "-cocoon.pkgs=sort", "sort")
	var all []functionGaps
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(f functionGaps) bool { return f.Function == "heapSort_func" })
	if i < 0 || all[i].Package != "sort" || all[i].Gaps[0].LengthNS <= 0 || all[i].Gaps[0].Line <= 0 {
		t.Errorf("the gaps of heapSort_func are at %d of\n%s", i, out)
	}
}
