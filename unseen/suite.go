package main

import (
	"bytes"
	"context"
	"maps"
	"regexp"
	"slices"
	"time"
)

// suiteTime bounds the tests of one library.
const suiteTime = 60 * time.Second

// outcome is the result of a run of tests.
type outcome struct {
	passed map[string]bool // the names of the tests
	err    error           // the process's
}

// varying matches parts of subtests' names that differ between programs: repeated spaces, which
// protobuf adds to its texts on purpose, and addresses that fmt prints for a wrong verb.
var varying = regexp.MustCompile(`_+|=0x[0-9a-f]+\)`)

var verdict = regexp.MustCompile(`(?m)^ *--- PASS: (\S+)`)

// test runs the library's tests in a process that first carries out the order in env, if any.
func (w *workplace) test(ctx context.Context, l library, p program, name string, env ...string) outcome {
	args := []string{"-test.v", "-test.short", "-test.timeout=" + suiteTime.String()}
	if l.skip != "" {
		args = append(args, "-test.skip="+l.skip)
	}
	out, err := w.command(ctx, p.folder, env, name, args...)
	o := outcomes(out)
	o.err = err
	return o
}

// outcomes parses the output of a test program with -test.v.
func outcomes(out []byte) outcome {
	o := outcome{passed: map[string]bool{}}
	for _, m := range verdict.FindAllSubmatch(bytes.ReplaceAll(out, []byte("\r"), nil), -1) {
		o.passed[varying.ReplaceAllString(string(m[1]), "_")] = true
	}
	return o
}

// lost returns the tests that pass in the first outcome, and not in the second.
func lost(before, after outcome) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(before.passed)) {
		if !after.passed[name] {
			names = append(names, name)
		}
	}
	return names
}
