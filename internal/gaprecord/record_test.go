package gaprecord

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestRecord(t *testing.T) {
	r := New(nil)
	if all := r.Sorted(); all == nil || len(all) != 0 {
		t.Errorf("the first record is %#v; want an empty list, for JSON", all)
	}
	for _, g := range []Gap{
		{Function: "a.F", Line: 1, Longest: 2, Count: 1, Task: "short"},
		{Function: "a.F", Line: 2, Longest: 5, Count: 3, Task: "long"},
		{Function: "a.F", Line: 3, Longest: 4, Count: 1, Task: "later"},
		{Function: "c.H", Longest: 9, Count: 1},
		{Function: "b.G", Longest: 9, Count: 1},
	} {
		r.Add(g)
	}
	want := []Gap{
		{Function: "b.G", Longest: 9, Count: 1},
		{Function: "c.H", Longest: 9, Count: 1},
		{Function: "a.F", Line: 2, Longest: 5, Count: 5, Task: "long"},
	}
	if got := r.Sorted(); !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// The file has all gaps once the record is closed, and is not written later.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	r := New(NewFile(dir, func(err error) { t.Error(err) }))
	r.Add(Gap{Function: "a.F", Longest: time.Second, Count: 1})
	r.Close()
	r.Add(Gap{Function: "b.G", Longest: time.Second, Count: 1})
	r.Close()
	written, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(written) != 1 {
		t.Fatalf("the folder has %v, %v; want one file", written, err)
	}
	text, err := os.ReadFile(written[0])
	if err != nil {
		t.Fatal(err)
	}
	var all []Gap
	if err := json.Unmarshal(text, &all); err != nil || len(all) != 1 || all[0].Function != "a.F" {
		t.Errorf("the file has %s, %v", text, err)
	}
}

func TestFileCannotBeWritten(t *testing.T) {
	var told []error
	r := New(NewFile(filepath.Join(t.TempDir(), "none"), func(err error) { told = append(told, err) }))
	r.Close()
	if len(told) != 1 {
		t.Errorf("the errors are %v; want one", told)
	}
}
