package sqltest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// standardFiles are files of the module in which package database/sql is tested with each connector
// wrapped. Its tests inspect connections and rows, so there they get the driver's own.
var standardFiles = map[string]string{
	"race/race.go": "package race\n\nconst Enabled = false\n",
	"asan/asan.go": "package asan\n\nconst Enabled = false\n",
	"testenv/testenv.go": `package testenv

import "testing"

func SkipIfOptimizationOff(testing.TB) {}
`,
	"sql/wrap.go": `package sql

import (
	"database/sql/driver"
	"reflect"

	"github.com/cocoon-go/cocoon/cocoonsql"
)

func wrap(c driver.Connector) driver.Connector { return cocoonsql.Connector(c) }

func own(c driver.Conn) driver.Conn {
	if w, ok := c.(interface{ Unwrap() driver.Conn }); ok {
		return w.Unwrap()
	}
	return c
}

func part(of any, name string) any { return reflect.ValueOf(of).Elem().FieldByName(name).Interface() }
`,
}

// standardEdits are the edits of these files. Each must apply somewhere, or the tests would not
// test the wrapper.
var standardEdits = []struct{ from, to string }{
	{`func OpenDB\(c driver\.Connector\) \*DB \{`, "func OpenDB(c driver.Connector) *DB {\n\tc = wrap(c)"},
	{`([\w.\[\]]+\.ci)\.\(\*`, "own($1).(*"},
	{`(\w+\.rowsi)\.\(\*`, "part($1, \"Rows\").(*"},
	{`(\w+\.txi)\.\(\*`, "part($1, \"Tx\").(*"},
	{`f\(dc\.ci\)`, "f(own(dc.ci))"}, // as in cocoonsql.Raw
	{`"internal/(race|asan|testenv)"`, `"standard/$1"`},
}

// standardSkips is a test that checks the type of the connector itself.
const standardSkips = `^TestOpenConnector$`

// TestStandardLibrary checks that the tests of package database/sql pass when all its connections,
// statements, transactions and rows are wrapped.
func TestStandardLibrary(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and tests a package of its own")
	}
	root, err := filepath.Abs("../..")
	tasktest.Must(t, err)
	dir := t.TempDir()
	write := func(name string, text []byte) {
		tasktest.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		tasktest.Must(t, os.WriteFile(filepath.Join(dir, name), text, 0o666))
	}
	for name, text := range standardFiles {
		write(name, []byte(text))
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	tasktest.Must(t, err)
	sources, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(goroot)), "src/database/sql/*.go"))
	tasktest.Must(t, err)
	applied := make([]bool, len(standardEdits))
	for _, path := range sources {
		if strings.HasPrefix(filepath.Base(path), "example") {
			continue
		}
		text, err := os.ReadFile(path)
		tasktest.Must(t, err)
		for i, e := range standardEdits {
			was := text
			text = regexp.MustCompile(e.from).ReplaceAll(text, []byte(e.to))
			applied[i] = applied[i] || !bytes.Equal(was, text)
		}
		write("sql/"+filepath.Base(path), text)
	}
	for i, ok := range applied {
		if !ok {
			t.Fatalf("database/sql has no %s any more", standardEdits[i].from)
		}
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	tasktest.Must(t, err)
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	tasktest.Must(t, err)
	mod = regexp.MustCompile(`(?m)^module .*`).ReplaceAll(mod, []byte("module standard"))
	const self = "github.com/cocoon-go/cocoon"
	write("go.mod", append(mod, "\nrequire "+self+" v0.0.0\n\nreplace "+self+" => "+root+"\n"...))
	write("go.sum", sum)
	c := exec.Command("go", "test", "-mod=mod", "-count=1", "-skip", standardSkips, "./sql")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out[:min(len(out), 8000)])
	}
}
