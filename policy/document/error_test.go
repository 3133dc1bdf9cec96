package document

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/policy"
)

// refusal reads a document and parses its expressions, as a server does, up to the first error.
func refusalOf(text string) error {
	d, err := Read(strings.NewReader(text))
	if err != nil {
		return err
	}
	states := map[string]policy.State{}
	for name, v := range d.States {
		states[name], _ = policy.StateOf(v)
	}
	for _, s := range d.Policies {
		if _, err := s.Parse(states, nil); err != nil {
			return d.Refused(Part{"policy", s.Name}, err)
		}
	}
	return nil
}

// TestPlaceOfErrors looks for the text X in documents, and in the error for where it stands:
// columns count characters.
func TestPlaceOfErrors(t *testing.T) {
	const begin = "version: 1\npolicies:\n  - name: p\n    on: start\n    "
	for name, text := range map[string]string{
		"literal":                begin + "expr: |\n      queue.length > 1\n        ? X : continue()\n",
		"literal, indented more": begin + "expr: |2\n        X ? switch() : continue()\n",
		"literal, empty lines":   begin + "expr: |-\n\n\n      task.cancelled ?\n\n\n\n        X : continue()",
		"literal, keep":          begin + "expr: |+ # note\n      /* é */ X ? switch() : continue()\n\n",
		"literal, CRLF":          strings.ReplaceAll(begin+"expr: |\n      task.cancelled\n        ? X : continue()\n", "\n", "\r\n"),
		"folded":                 begin + "expr: >\n      task.cancelled\n      ? X\n      : continue()\n",
		"folded, indented":       begin + "expr: >-\n      task.cancelled\n        ? X\n        : continue()\n",
		"folded, empty lines":    begin + "expr: >\n\n      task.cancelled\n\n\n      ?\n\n        X : continue()\n",
		"plain":                  begin + "expr: X ? switch() :continue()\n",
		"plain, lines":           begin + "expr: task.cancelled\n      ? /* é */ X\n\n\n      :continue()\n",
		"single":                 begin + "expr: 'task.name == ''é'' ? X : continue()'\n",
		"single, lines":          begin + "expr: 'task.name == ''é''\n\n       ? X : continue()'\n",
		"double":                 begin + "expr: \"task.name == \\\"\\u00e9\\U000000e9\\xe9é\\\" ? X : continue()\"\n",
		"double, lines":          begin + "expr: \"task.name ==\n\n\n        'é' \\\n\n      ? X : continue()\"\n",
		"flow":                   "version: 1\npolicies: [{name: p, on: start, expr: 'task.name == \"é\" ? X : continue()'}]\n",
		"byte order mark":        "\ufeff" + begin + "expr: X ? switch() :continue()\n",
		"the table's key":        "version: 1\nX: 1\n",
		"the value":              "version: 1\npolicies:\n  - {name: p, on: start, expr: continue(), mode: X}\n",
	} {
		t.Run(name, func(t *testing.T) {
			before, _, _ := strings.Cut(strings.TrimPrefix(text, "\ufeff"), "X")
			line := before[strings.LastIndexByte(before, '\n')+1:]
			want := fmt.Sprintf("document:%d:%d: ", strings.Count(before, "\n")+1, len([]rune(line))+1)
			err := refusalOf(text)
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s\nerror %v, want one that begins with %q", text, err, want)
			}
			var de *Error
			if errors.As(err, &de); de == nil || !strings.HasPrefix(string([]rune(de.text)[de.Col-1:]), "X") {
				t.Errorf("it marks another line: %+v", err)
			}
		})
	}
}

func TestDocumentErrorStory(t *testing.T) {
	err := InFile(refusalOf("version: 1\npolicies:\n  - name: p\n    on: start\n    expr: |\n      task.runing > duration(\"1s\")\n        ? switch() : continue()\n"), "a.yaml")
	const want = `a.yaml:6:7: policy "p": there is no state stub task.runing
  6 |       task.runing > duration("1s")
    |       ^^^^^^^^^^^
  hint: did you mean task.running?`
	if got := fmt.Sprintf("%+v", err); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var pe *ir.Error
	if !errors.As(err, &pe) || pe.Line != 1 || pe.Col != 1 {
		t.Errorf("the error of the expression is lost: %#v", pe)
	}
	cut := refusalOf("version: 1\npolicies:\n  - name: p\n    on: start\n    expr: any(task.stack, # == \"a\") ? switch() : continue()\n")
	if cut == nil || !strings.Contains(cut.Error(), "YAML takes # == \"a\") ? switch() : continue() for a comment; begin the text in a line of its own, after expr: |") {
		t.Errorf("a text that YAML cuts: %v", cut)
	}
}

// A comment that is one gets no blame for an error at the end of an expression.
func TestCommentsBehindExpressions(t *testing.T) {
	for expr, cut := range map[string]bool{
		`set("n", 5) # until the next deploy`:                     false,
		`queue.length > 5 # a burst`:                              false,
		`queue.length > 5 # ? throw("x") :continue()`:             true,
		`task.labels.a == "b #1" ? switch() :continue()`:          true,
		`any(task.stack, # == "a") ? switch() :continue()`:        true,
		`queue.length > #1 ? switch() :continue()`:                true,
		`queue.length > 5 ? throw("x", 30) :continue() # a burst`: false,
	} {
		err := refusalOf("version: 1\npolicies:\n  - name: p\n    on: start\n    expr: " + expr + "\n")
		if err == nil || strings.Contains(err.Error(), "for a comment") != cut {
			t.Errorf("%s: %v", expr, err)
		}
	}
}

// TestPlaces compares what it takes scalars for with what the YAML parser does, on random ones.
func TestPlaces(t *testing.T) {
	pieces := []string{"a", "b c", " ", "  ", "\n", "\n\n", "\n   ", "\n     ", "\t", "é", "''", "\\n", "\\\"", "\\u00e9", "\\\n", "?", "//x", "{", ":", "-", "\\ "}
	headers := []string{"", "'", "\"", "|\n", ">\n", "|-\n", ">+\n", "|2\n", ">1-\n"}
	read, found := 0, 0
	for seed := range uint64(10000) {
		r := rand.New(rand.NewPCG(seed, 1))
		header := headers[r.IntN(len(headers))]
		text := "k:\n  x: " + header
		if strings.HasSuffix(header, "\n") {
			text += "     "
		}
		for range 1 + r.IntN(8) {
			text += pieces[r.IntN(len(pieces))]
		}
		if !strings.HasSuffix(header, "\n") {
			text += header
		}
		text += "\n  y: z\n"
		var doc yaml.Node
		if yaml.Unmarshal([]byte(text), &doc) != nil || doc.Content[0].Content[1].Kind != yaml.MappingNode {
			continue
		}
		n := doc.Content[0].Content[1].Content[1]
		if n.Kind != yaml.ScalarNode || strings.TrimSpace(n.Value) == "" { // without a text there is nothing to place
			continue
		}
		read++
		if at := places(sourceLines([]byte(text)), n); len(at) == len(n.Value)+1 {
			found++
		} else {
			t.Errorf("%q, of style %d: it is not read as %q", text, n.Style, n.Value)
		}
	}
	if read < 1500 || found < read {
		t.Errorf("of %d scalars %d were read alike", read, found)
	}
}

func TestTrapsOfYAML(t *testing.T) {
	const begin = "version: 1\npolicies:\n  - name: p\n    on: start\n    "
	for _, c := range []struct{ name, text, want string }{
		{"a comment in a folded text", begin + "expr: >\n      queue.length > 1 // many\n      ? switch() : continue()\n",
			"document:6:24: the comment swallows the lines after it, because YAML joins them to one; write expr: |"},
		{"the second comment", begin + "expr: >\n      /* // \" */ queue.length > 1 and task.name == '// \\' // \"'\n      ? switch() // many\n      : continue()\n", "document:7:18: the comment swallows"},
		{"in a plain text", begin + "expr: queue.length > 1 // many\n      ? switch() :continue()\n", "document:5:28: the comment swallows"},
		{"in quotes", begin + "expr: \"queue.length > 1 // many\n      ? switch() : continue()\"\n", "document:5:29: the comment swallows"},
		{"a comment at the end", begin + "expr: >\n      queue.length > 1\n      ? switch() : continue() // done\n", ""},
		{"a comment before an empty line", begin + "expr: >\n      queue.length > 1 // many\n\n      ? switch() : continue()\n", ""},
		{"a comment before an indented line", begin + "expr: >\n      queue.length > 1 // many\n        ? switch() : continue()\n", ""},
		{"an escaped newline", begin + "expr: \"queue.length > 1 // many\\n ? switch() : continue()\"\n", ""},
		{"in a literal text", begin + "expr: |\n      queue.length > 1 // many\n      ? switch() : continue()\n", ""},
		{"octal", "version: 1\ntasks: {a: {priority: 010}}\n", "document:2:23: the number 010 begins with 0, which is octal to some readers and not to others; write 10, or 0o10"},
		{"octal that is none", "version: 1\nstates: {a: -08}\n", "write -8"},
		{"octal float", "version: 1\nstates: {a: 00.5}\n", "write 0.5"},
		{"octal version", "version: 01\n", "write 1, or 0o1"},
		{"octal share", "version: 1\ntenants: {label: t, max: 0_10}\n", "write 10, or 0o10"},
		{"no octal", "version: 1\nstates: {a: 0, b: 0.5, c: 0o10, d: 0x10, e: 0b1, f: -0, g: 0.0}\n", ""},
		{"octal in an expression", begin + "expr: 'task.priority == 010 ? switch() : continue()'\n", "document:5:29: policy \"p\": the number 010 begins with 0, which is octal to some readers and not to others; write 10, or 0o10"},
		{"no octal in an expression", begin + "expr: 'task.priority == 0 or task.priority < 0o10 or loop.utilization > 0.5 ? switch() : continue()'\n", ""},
		{"directive", "%YAML 1.2\n---\nversion: 1\n", "document:1:1: documents have no directives; remove the line"},
		{"old directive", "%YAML 1.1\n---\nversion: 1\n", "documents have no directives"},
		{"tag directive", "# x\n%TAG ! tag:a,2000:\n---\nversion: 1\n", "document:2:1: documents have no directives"},
		{"bidirectional", begin + "expr: |\n      task.name != \"a\u202e \u2066// admins only\u2069 \u2066\" ? throw(\"x\") : continue()\n", "document:6:22: the document holds the invisible character U+202E; remove it"},
		{"zero width", "version: 1\ntasks: {a\u200bb: safe}\n", "document:2:10: the document holds the invisible character U+200B"},
		{"in a comment", "version: 1 # \u202e\n", "U+202E"},
		{"a filler", "version: 1\ntasks: {\u3164: safe}\n", "U+3164"},
		{"a line of Unicode's", "version: 1 #\u2028states: {}\n", "U+2028"},
		{"control character", "version: 1\nzone: a\x00\n", "document:2:8: the document holds the control character U+0000; remove it"},
		{"control character in a comment", "version: 1 # \x07\n", "document:1:14: the document holds the control character U+0007"},
		{"escaped", "version: 1\ntasks: {\"a\\u200bb\": safe}\n", "document:2:9: the text holds the invisible character U+200B"},
		{"escaped in an expression", begin + "expr: \"task.name == 'a\\u202eb' ? switch() : continue()\"\n", "the invisible character U+202E"},
		{"carriage return", "version: 1 # a\rstates: {}\n", "document:1:15: the line has a carriage return that does not end it"},
		{"emoji", "version: 1 # ⚠️\n", ""},
		{"byte order mark", "\ufeffversion: 1\n", ""},
		{"a second mark", "\ufeffversion: 1 # \ufeff\n", "U+FEFF"},
		{"other scripts", "version: 1 # אב\ntasks: {\"שלום 你好\": safe}\n", ""},
		{"least integers", "version: 1\nstates: {a: -9223372036854775808, b: 9223372036854775807}\n", ""},
		{"beyond integers", "version: 1\nstates: {a: -9223372036854775809}\n", "too large"},
	} {
		err := refusalOf(c.text)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v\nwant %q", c.name, err, c.want)
		}
	}
}

// TestLongLines: what a document can hold is read in time that grows with it.
func TestLongLines(t *testing.T) {
	size := MaxSize / longtest.Count(1, 4)
	for name, text := range map[string]string{
		"a long line":        "version: 1\npolicies:\n  - {name: p, on: start, expr: '" + strings.Repeat("continue() // ", size/16) + "'}\n",
		"a long indentation": "version: 1\npolicies:\n  - name: p\n    on: start\n    expr: >\n" + strings.Repeat(" ", size/2) + "/* // */" + strings.Repeat("//\n\n", size/16),
		"many comments":      "version: 1\n" + strings.Repeat("#\n", size/4),
	} {
		begin := time.Now()
		if err := refusalOf(text); err == nil && name == "a long line" {
			t.Errorf("%s: no error", name)
		}
		Format([]byte(text))
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
	}
}

// A warning about a name in a match has the place of the name.
func TestPlaceInMatch(t *testing.T) {
	d, err := Read(strings.NewReader("version: 1\npolicies:\n  - name: p\n    match: {tasks: [b, a], kinds: [safe]}\n    on: enqueue\n    expr: continue()\n"))
	if err != nil {
		t.Fatal(err)
	}
	for reason, want := range map[string]string{
		`match: nothing else names "a"; did you mean "b"?`: `document:4:24: policy "p": `,
		`match: nothing is about a name`:                   `document:3:5: policy "p": `,
		`nothing else names "a"`:                           `document:3:5: policy "p": `,
	} {
		if got := fmt.Sprint(d.Refused(Part{"policy", "p"}, errors.New(reason))); !strings.HasPrefix(got, want+reason) {
			t.Errorf("got %s, want %s", got, want+reason)
		}
	}
}
