package gobuild

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// TestMain makes the test program also the tool that the go command runs, and cocoon itself for
// tests that need it as a process.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 {
		os.Exit(longtest.SmallHeap(m))
	}
	code, err := 0, error(nil)
	switch os.Args[1] {
	case "toolexec":
		code, err = Toolexec(os.Args[2:])
	case "cocoon":
		code, err = cocoon(os.Stdout, os.Stderr, os.Args[2:]...)
	case "hang":
		code, err = hang(os.Args[2], os.Args[3:])
	default:
		code = longtest.SmallHeap(m)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cocoon:", err)
		code = 2
	}
	os.Exit(code)
}

// cocoon runs a command line.
func cocoon(stdout, stderr *os.File, args ...string) (int, error) {
	c, err := command(args...)
	if err != nil {
		return 0, err
	}
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, stdout, stderr
	return c.Run(context.Background())
}

func command(args ...string) (*Command, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c, err := Parse(args[0], args[1:])
	if err != nil {
		return nil, err
	}
	c.Tool = []string{program, "toolexec"}
	c.Limited = func(file string) ([]string, error) {
		_, err := os.ReadFile(file)
		return nil, err
	}
	return c, nil
}

// module is a folder with the files of a txtar archive.
type module string

// newFolder returns a new folder for a module, which the end of the test removes. In the short form
// of the tests the folder has the same name in each run, so that the build cache has what an earlier
// run compiled. If another run has this folder, the name is new.
func newFolder(t *testing.T, archive string) module {
	t.Helper()
	if !longtest.Off() {
		return module(t.TempDir())
	}
	sum := sha256.Sum256([]byte(t.Name() + archive))
	folder := filepath.Join(os.TempDir(), fmt.Sprintf("cocoon-gobuild-%x", sum[:8]))
	if of, err := os.Stat(folder); err == nil && time.Since(of.ModTime()) > time.Hour {
		os.RemoveAll(folder) // of a run that was killed
	}
	if os.Mkdir(folder, 0o700) != nil {
		return module(t.TempDir())
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return module(folder)
}

// unique makes the package in the module's folder another one than in earlier runs, so that it is
// compiled.
func (m module) unique(t *testing.T, name string) {
	t.Helper()
	m.write(t, "unique.go", fmt.Sprintf("package %s\n\nconst _ = %d\n", name, time.Now().UnixNano()))
}

const helper = "poll.go"

func newModule(t *testing.T, archive string) module {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds programs")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	m := newFolder(t, archive)
	for _, f := range txtar.Parse([]byte(archive)).Files {
		m.write(t, f.Name, string(f.Data))
		if filepath.Base(f.Name) == "main.go" && strings.Contains(string(f.Data), "watch(") {
			text, err := os.ReadFile("testdata/poll.go.txt")
			if err != nil {
				t.Fatal(err)
			}
			m.write(t, filepath.Join(filepath.Dir(f.Name), helper), string(text))
		}
	}
	m.addSafepoint(t, "cocoon")
	if _, err := os.Stat(m.path("vendor")); err == nil {
		m.addSafepoint(t, "vendor/github.com/cocoon-go/cocoon")
	}
	return m
}

// addSafepoint adds the module cocoon with only package safepoint.
func (m module) addSafepoint(t *testing.T, folder string) {
	t.Helper()
	m.write(t, folder+"/go.mod", "module github.com/cocoon-go/cocoon\n\ngo 1.25\n")
	files, err := filepath.Glob("../../safepoint/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		m.write(t, folder+"/safepoint/"+filepath.Base(f), string(text))
	}
}

func (m module) path(name string) string { return filepath.Join(string(m), name) }

func (m module) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(m.path(name)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.path(name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// contents returns all files with their texts.
func (m module) contents(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(string(m), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sources is contents without built programs.
func (m module) sources(t *testing.T) map[string]string {
	t.Helper()
	all := m.contents(t)
	maps.DeleteFunc(all, func(path, _ string) bool { return strings.HasSuffix(path, ".out") })
	return all
}

// cocoon runs a command line in the module's folder and returns its output, and the exit code or
// the error. It fails the test if a file of the module has changed or been added, except for the
// files of -o.
func (m module) cocoon(t *testing.T, args ...string) (out string, code int, err error) {
	t.Helper()
	c, err := command(append([]string{args[0], "-C", string(m)}, args[1:]...)...)
	if err != nil {
		return "", 0, err
	}
	before := m.sources(t)
	var b bytes.Buffer
	c.Stdout, c.Stderr = &b, &b
	code, err = c.Run(t.Context())
	after := m.sources(t)
	if !maps.Equal(before, after) {
		t.Errorf("cocoon %s changed the module: %d files before, %d after", args, len(before), len(after))
	}
	return b.String(), code, err
}
