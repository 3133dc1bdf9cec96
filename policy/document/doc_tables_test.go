package document

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// table is a table of docs/policy.md: the words over its columns, and its rows.
type table struct {
	head []string
	rows [][]string
}

// docTables returns all tables, without the code blocks between.
func docTables(t *testing.T) (all []table) {
	t.Helper()
	text := regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(readDoc(t), "")
	cells := func(line string) (cells []string) {
		line = strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "\x00")
		for cell := range strings.SplitSeq(line, "|") {
			cells = append(cells, strings.TrimSpace(strings.ReplaceAll(cell, "\x00", "|")))
		}
		return cells
	}
	var lines []string
	for line := range strings.SplitSeq(text+"\n", "\n") {
		if strings.HasPrefix(line, "|") {
			lines = append(lines, line)
			continue
		}
		if len(lines) > 2 {
			one := table{head: cells(lines[0])}
			for _, row := range lines[2:] {
				one.rows = append(one.rows, cells(row))
			}
			all = append(all, one)
		}
		lines = nil
	}
	return all
}

// TestDocTables reads every table of docs/policy.md against the code. A table that nothing here
// knows fails it.
func TestDocTables(t *testing.T) {
	checks := map[string]func(*testing.T, [][]string){
		"statement": docStatements, "type": docTypes, "operator": docOperators, "function": docFunctions, "verdict": docVerdicts, "effect": docEffects,
		"notification": docNotifications, "constructor": docConstructors, "what is refused in a document": docRefused, "`expect`": docExpect,
		"mode": docModes, "condition": docConditions,
		"stub":    func(*testing.T, [][]string) {}, // TestDocStubs
		"of":      func(*testing.T, [][]string) {}, // TestDocBounds
		"warning": func(*testing.T, [][]string) {}, // TestDocErrors of package analyzer, TestDocWarnings of cocoon
		"subverb": func(*testing.T, [][]string) {}, // TestDocSubverbs of cocoon, the command
	}
	for _, table := range docTables(t) {
		check := checks[table.head[0]]
		if check == nil {
			t.Errorf("nothing compares the table of %q with the code", table.head)
			continue
		}
		delete(checks, table.head[0])
		t.Run(table.head[0], func(t *testing.T) { check(t, table.rows) })
	}
	for name := range checks {
		t.Errorf("docs/policy.md has no table of %q", name)
	}
}

var code = regexp.MustCompile("`([^`]+)`")

// codes returns what stands in backquotes in a cell.
func codes(cell string) (all []string) {
	for _, m := range code.FindAllStringSubmatch(cell, -1) {
		all = append(all, m[1])
	}
	return all
}

// calledNames returns the functions that are called in the first cells.
func calledNames(rows [][]string) (names []string) {
	for _, row := range rows {
		for _, c := range codes(row[0]) {
			name, _, _ := strings.Cut(c, "(")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func sameNames(t *testing.T, what string, got, want []string) {
	t.Helper()
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("docs/policy.md has the %s %v; the code %v", what, got, want)
	}
}

func docStatements(t *testing.T, rows [][]string) {
	examples := map[string]string{
		"`let name = value;`": `let name = 3; continue()`, "an effect": `set("served", 1); continue()`, "a verdict": `switch()`,
		"`if c { ... } else { ... }`": `if task.cancelled { set("served", 1) } else if queue.length > 3 { switch() } else { continue() }`,
		"`c ? ... : ...`":             `task.cancelled ? (set("served", 1); set("ratio", 1.0)) : switch()`,
	}
	for _, row := range rows {
		example := examples[row[0]]
		delete(examples, row[0])
		if _, err := lang.Parse(example, docEnv); err != nil {
			t.Errorf("%s: %v", row[0], err)
		}
		if row[1] != "anywhere" { // at the end of a path
			if _, err := lang.Parse(example+"; continue()", docEnv); err == nil {
				t.Errorf("%s may stand anywhere", row[0])
			}
		}
	}
	if len(examples) > 0 {
		t.Errorf("docs/policy.md does not say %v", slices.Collect(maps.Keys(examples)))
	}
}

// readOf is a value of a type that is not constant.
var readOf = map[stubs.Type]string{stubs.Bool: "task.cancelled", stubs.Int: "queue.length", stubs.Float: "loop.utilization",
	stubs.Duration: "task.running", stubs.Bytes: "runtime.heap", stubs.Name: "task.name", stubs.NameList: "task.stack"}

func docTypes(t *testing.T, rows [][]string) {
	var names, want []string
	for typ := range readOf {
		want = append(want, typ.String())
	}
	for _, row := range rows {
		names = append(names, row[0])
		for typ, read := range readOf {
			if typ.String() != row[0] || len(row) < 3 {
				continue
			}
			for _, literal := range codes(row[2]) {
				if strings.Contains(literal, " ") || !strings.ContainsAny(literal, `0123456789"'e`) || regexp.MustCompile(`^[A-Za-z]+$`).MatchString(literal) && typ != stubs.Bool ||
					literal == `"1m30s"` {
					continue // units and the like
				}
				if _, err := lang.Parse(fmt.Sprintf("%s == %s ? switch() : continue()", read, literal), docEnv); err != nil {
					t.Errorf("%s: %v", literal, err)
				}
			}
		}
	}
	slices.Sort(names)
	sameNames(t, "types", names, want)
}

func docFunctions(t *testing.T, rows [][]string) {
	var want []string
	for name := range lang.Functions {
		if !lang.Verdicts[name] && !lang.Effects[name] {
			want = append(want, name)
		}
	}
	sameNames(t, "functions", calledNames(rows), want)
}

func docVerdicts(t *testing.T, rows [][]string) {
	sameNames(t, "verdicts", calledNames(rows), slices.Collect(maps.Keys(lang.Verdicts)))
}

// docEffects tries each effect on all notifications: the table says which are "alone", and which
// are for time policies.
func docEffects(t *testing.T, rows [][]string) {
	sameNames(t, "effects", calledNames(rows), slices.Concat(slices.Collect(maps.Keys(lang.Effects)), []string{"max", "min"})) // which are functions too
	arguments := map[string]string{"state": `"served"`, "value": "1", `"Func"`: `"Alarm"`, "d": `duration("1ms")`, "x": "1", `"state"`: `"served"`}
	for _, row := range rows {
		example := ""
		for i, code := range codes(row[0]) {
			if i > 0 {
				example += "; "
			}
			example += regexp.MustCompile(`"?\w+"?`).ReplaceAllStringFunc(code, func(word string) string {
				if a, ok := arguments[word]; ok {
					return a
				}
				return word
			})
		}
		for on := stubs.Tick; on <= stubs.Custom; on <<= 1 {
			env := docEnv
			env.On = on
			want := true
			if strings.Contains(row[1], "not on exit and leave") {
				want = on&stubs.Ends == 0
			} else if strings.Contains(row[1], "enqueue alone") {
				want = on == stubs.Enqueue
			} else if strings.Contains(row[1], "in time policies only") {
				want = on == stubs.Tick
			}
			if _, err := lang.Parse(example, env); (err == nil) != want {
				t.Errorf("%s on %v: %v; docs/policy.md says %q", example, on, err, row[1])
			}
		}
	}
}

func docNotifications(t *testing.T, rows [][]string) {
	var names, want []string
	for on := stubs.Tick; on <= stubs.Custom; on <<= 1 {
		want = append(want, on.String())
	}
	for _, row := range rows {
		name := codes(row[0])[0]
		names = append(names, name)
		env := docEnv
		env.On = stubs.EventNamed(name)
		only := strings.Contains(row[3], "only `continue()`")
		if _, err := lang.Parse(`task.cancelled ? throw("x") : switch()`, env); (err != nil) != only {
			t.Errorf("%s: %v; docs/policy.md says %q", name, err, row[3])
		}
	}
	slices.Sort(names)
	sameNames(t, "notifications", names, want)
}

// docConstructors looks for the ready-made policies among the exported names of package policy.
func docConstructors(t *testing.T, rows [][]string) {
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() || fn.Type.Results == nil || fmt.Sprint(fn.Type.Results.List[0].Type) != "Spec" || strings.HasSuffix(fn.Name.Name, "Spec") && fn.Recv == nil {
				continue
			}
			if fn.Recv == nil {
				want = append(want, fn.Name.Name)
			} else if receiver, ok := fn.Recv.List[0].Type.(*ast.Ident); ok {
				want = append(want, receiver.Name)
			}
		}
	}
	var names []string
	for _, row := range rows {
		for _, c := range codes(row[0]) {
			names = append(names, regexp.MustCompile(`^\w+`).FindString(c))
		}
	}
	slices.Sort(names)
	sameNames(t, "constructors", names, want)
}

// docRefused looks for each message of the table among those of documents that are refused.
func docRefused(t *testing.T, rows [][]string) {
	texts := []string{
		"version: 1\npolicies:\n  - {name: p, on: start, expr: nonsense, mode: test}\n", "version: 1\nstates: {a-b: 1}\n", "version: 1\nlimits: {}\n",
		"version: 1\npolicies:\n  - name: p\n    expr: continue()\n", "version: 1\nstates:\n  a: 1\n  a: 2\n", "%YAML 1.2\n---\nversion: 1\n",
		"version: 1 # \u202e\n", "version: 1\npolicies:\n  - name: p\n    on: start\n    expr: >\n      queue.length > 1 // many\n      ? switch() : continue()\n",
		"version: 1\nstates: {a: 010}\n",
	}
	for _, c := range refusedDocuments {
		texts = append(texts, c.text)
	}
	said := ""
	for _, text := range texts {
		if _, err := Read(strings.NewReader(text)); err != nil {
			said += err.Error() + "\n"
		}
	}
	for _, row := range rows {
		for _, message := range codes(row[1]) {
			if !strings.Contains(said, message) {
				t.Errorf("no document is refused with %q", message)
			}
		}
	}
}

// docModes compares the modes, in their order.
func docModes(t *testing.T, rows [][]string) {
	var names []string
	for _, row := range rows {
		names = append(names, codes(row[0])...)
	}
	modes := []string{policy.Enforce.String(), policy.Observe.String(), policy.Off.String()}
	if !slices.Equal(names, modes) {
		t.Errorf("docs/policy.md has the modes %v; the code %v", names, modes)
	}
}

// docConditions compares the conditions of a canary with the keys of rollback.
func docConditions(t *testing.T, rows [][]string) {
	_, err := Read(strings.NewReader("version: 1\ncanary: {share: 1, rollback: {zzzzzzzzzz: 1}}\n"))
	names := []string{"window"}
	for _, row := range rows {
		for _, example := range codes(row[0]) { // none in the row of what always ends it
			name, _, _ := strings.Cut(example, ":")
			names = append(names, name)
			if _, err := Read(strings.NewReader("version: 1\ncanary: {share: 1, rollback: {" + example + "}}\n")); err != nil {
				t.Error(err)
			}
		}
	}
	slices.Sort(names)
	if want := "there is " + strings.Join(names, ", "); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("docs/policy.md has the keys %v: %v", names, err)
	}
}

// docExpect compares the keys of what tests expect with those that they may have.
func docExpect(t *testing.T, rows [][]string) {
	_, err := ReadTests(strings.NewReader("version: 1\ndocuments: []\ntests:\n  - {name: a, events: [{at: 0s, on: start, expect: {zzzzzzzzzz: 1}}]}\n"))
	var names []string
	for _, row := range rows[1:] { // the first are verdicts, without a key
		names = append(names, codes(row[0])...)
	}
	slices.Sort(names)
	if want := "there is " + strings.Join(names, ", "); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("docs/policy.md has the keys %v: %v", names, err)
	}
	for _, verdict := range codes(rows[0][0]) {
		if _, err := canonicalVerdict(verdict); err != nil {
			t.Error(err)
		}
	}
}

// TestDocIntervals compares the bounds of intervals, which several places of the document name.
func TestDocIntervals(t *testing.T) {
	if lang.MinInterval != 5*time.Microsecond || lang.MaxInterval != 24*time.Hour || !strings.Contains(readDoc(t), "has an interval of 5 µs to 24 h and") {
		t.Errorf("an interval is %v to %v", lang.MinInterval, lang.MaxInterval)
	}
}
