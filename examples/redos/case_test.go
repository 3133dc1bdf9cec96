package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBuiltInCases checks that every built-in case has a source, blows up, and is harmless on the
// benign input. regexp2's own timeout limits the time; the test compiles a separate Regexp, because
// the timeout is part of it.
func TestBuiltInCases(t *testing.T) {
	if len(builtIn) < 10 {
		t.Errorf("there are %d; want 10 or more", len(builtIn))
	}
	names := map[string]bool{}
	for _, c := range builtIn {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.validate(); err != nil || c.Source == "" || names[c.Name] {
				t.Fatalf("not valid, without a source, or twice there: %v", err)
			}
			names[c.Name] = true
			re, err := c.compile()
			if err != nil {
				t.Fatal(err)
			}
			re.MatchTimeout = limit
			if _, err := find(re, c.attack()); err == nil || !strings.HasPrefix(err.Error(), "match timeout") {
				t.Errorf("the attack ends within %v: %v", limit, err)
			}
			re.MatchTimeout = time.Minute
			if matched, err := find(re, c.benign()); err != nil || matched != c.BenignMatch {
				t.Errorf("benign verdict %t, %v; want %t", matched, err, c.BenignMatch)
			}
		})
	}
}

func writeCases(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cases.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadCases(t *testing.T) {
	text, err := json.Marshal(builtIn)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := readCases(writeCases(t, string(text)))
	if err != nil || len(cases) != len(builtIn) || cases[7].attack() != builtIn[7].attack() {
		t.Errorf("what was written reads as %d cases, %v", len(cases), err)
	}
	const one = `{"name": "n", "pattern": "a", "options": ["IgnoreCase"], "prefix": "<", "pump": "ab", "suffix": ">", "repeat": 3,
		"benign_repeat": 0, "benign_match": false, "class": "other fields are allowed"}`
	cases, err = readCases(writeCases(t, "["+one+"]"))
	if err != nil || len(cases) != 1 || cases[0].attack() != "<ababab>" || cases[0].benign() != "<>" {
		t.Errorf("got %+v, %v", cases, err)
	}
	for text, want := range map[string]string{
		"":                          "cases.json: unexpected end",
		"[]":                        "no case",
		"null":                      "no case",
		"{}":                        "cannot unmarshal",
		"[" + one + "," + one:       "unexpected end",
		"[" + one + "," + one + "]": "case 2: there is another n",
		"[{}]":                      "case 1: it has no name",
		strings.Replace("["+one+"]", `"ab"`, `""`, 1):           "pump is empty",
		strings.Replace("["+one+"]", `: 3`, `: 0`, 1):           "repeat is 0",
		strings.Replace("["+one+"]", `: 0`, `: -1`, 1):          "benign_repeat -1",
		strings.Replace("["+one+"]", `: 3`, `: 9999999999`, 1):  "more than 1048576 bytes",
		strings.Replace("["+one+"]", `IgnoreCase`, `Lenien`, 1): `no option "Lenien"`,
		strings.Replace("["+one+"]", `"a"`, `"(a"`, 1):          "n: error parsing regexp",
	} {
		if _, err := readCases(writeCases(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v; want one with %q", text, err, want)
		}
	}
	if _, err := readCases(filepath.Join(t.TempDir(), "none.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
