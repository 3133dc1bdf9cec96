package document

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing to do", fullDocument[1:], fullDocument[1:]},
		{"indentation", "version: 1\npolicies:\n- name: p   \n  on: start\n  match:\n      tasks:\n      -   a\n      -  b\n  expr: |\n         a\n           b  \n\n\n         c\n\n\n\nstates:\n        a: 1\n        b: 2\n\n",
			"version: 1\npolicies:\n  - name: p\n    on: start\n    match:\n      tasks:\n        - a\n        - b\n    expr: |\n      a\n        b\n\n\n      c\n\nstates:\n  a: 1\n  b: 2\n"},
		{"comments", "\n# first\n\n\n# second\nversion: 1 # of the format\npolicies: # all of them\n    # of p\n    - name: p # its name\n      # of on\n      on: start\n      expr: continue()\n      # behind\n    # before q\n\n    -   name: q\n        on: exit\n        expr: |  # long\n          # no comment\n          continue()\n          # nor this\n      # p and q\n# last\n",
			"# first\n\n# second\nversion: 1 # of the format\npolicies: # all of them\n  # of p\n  - name: p # its name\n    # of on\n    on: start\n    expr: continue()\n    # behind\n  # before q\n\n  - name: q\n    on: exit\n    expr: |  # long\n      # no comment\n      continue()\n      # nor this\n    # p and q\n# last\n"},
		{"flow and quotes over lines", "version: 1\ntasks:\n     {a: safe,\n       b: both,   # of b\n      c: safe}\nlimits:\n   - {func: a,\n      limit: 1s}\npolicies:\n   - name: p\n     on: start\n     expr: \"continue\n        ()\"\n   -\n     name: q\n     on: start\n     expr: continue\n       ()\n",
			"version: 1\ntasks:\n     {a: safe,\n       b: both,   # of b\n      c: safe}\nlimits:\n  - {func: a,\n     limit: 1s}\npolicies:\n  - name: p\n    on: start\n    expr: \"continue\n       ()\"\n  -\n    name: q\n    on: start\n    expr: continue\n      ()\n"},
		{"an indented block", "version: 1\npolicies:\n- name: p\n  on: start\n  expr: |2-\n      task.cancelled\n    ? switch()\n    : continue()\n", "version: 1\npolicies:\n  - name: p\n    on: start\n    expr: |2-\n        task.cancelled\n      ? switch()\n      : continue()\n"},
		{"ends of lines", "version: 1\r\nstates:\r\n   a: 1", "version: 1\nstates:\n  a: 1\n"},
		{"a document that is refused", "version: 7\nnope:\n    - 1\n", "version: 7\nnope:\n  - 1\n"},
	} {
		out, err := Format([]byte(c.in))
		if err != nil || string(out) != c.want {
			t.Errorf("%s: %v\ngot\n%s\nwant\n%s", c.name, err, out, c.want)
			continue
		}
		if again, err := Format(out); err != nil || string(again) != string(out) {
			t.Errorf("%s: formatted again, it is %v\n%s", c.name, err, again)
		}
	}
	for _, text := range []string{"version: [", "%YAML 1.2\n---\nversion: 1\n", "a: &b 1\n"} {
		if _, err := Format([]byte(text)); err == nil {
			t.Errorf("%q is formatted", text)
		}
	}
}

// TestFormatAnything formats documents that were indented at random. What it writes says the same,
// is formatted for good, and has all comments.
func TestFormatAnything(t *testing.T) {
	valid, done := 0, 0
	seeds := longtest.Count(800, 300)
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 2))
		shift := []string{"", " ", "  ", "   "}[r.IntN(4)]
		var b strings.Builder
		for _, line := range strings.Split(fullDocument, "\n") {
			if strings.HasPrefix(line, " ") {
				line = shift + line
			}
			for range r.IntN(3) {
				b.WriteString([]string{"", "\n", "# a comment\n", shift + "  # another\n"}[r.IntN(4)])
			}
			b.WriteString(line + strings.Repeat(" ", r.IntN(2)) + "\n")
		}
		text := b.String()
		if _, _, err := readSource(strings.NewReader(text)); err != nil {
			continue // a comment has ended an expression
		}
		valid++
		out, err := Format([]byte(text))
		if err != nil {
			t.Logf("%v\n%s", err, text)
			continue
		}
		done++
		if again, err := Format(out); err != nil || string(again) != string(out) {
			t.Fatalf("formatted again, it is another: %v\n%s\n%s", err, out, again)
		}
		if was, is := strings.Count(text, "#"), strings.Count(string(out), "#"); was != is {
			t.Fatalf("it had %d comments, and has %d\n%s", was, is, out)
		}
	}
	if valid < seeds/7 || done < valid {
		t.Errorf("%d of %d documents were formatted", done, valid)
	}
}
