package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// workplace is a folder in which libraries are built.
type workplace struct {
	folder   string
	root     string // Cocoon's folder
	cocoon   string // the path of the cocoon command
	keep     bool   // the folder
	messages io.Writer
}

// openWorkplace creates a temporary folder unless a folder to keep is given.
func openWorkplace(ctx context.Context, folder string, messages io.Writer) (*workplace, error) {
	root, err := filepath.Abs("..")
	if err != nil {
		return nil, err
	}
	w := &workplace{root: root, keep: folder != "", messages: messages}
	if w.keep {
		if w.folder, err = filepath.Abs(folder); err == nil {
			err = os.MkdirAll(w.folder, 0o777)
		}
	} else {
		w.folder, err = os.MkdirTemp("", "cocoon-unseen-")
	}
	if err != nil {
		return nil, err
	}
	w.cocoon = filepath.Join(w.folder, "cocoon")
	w.progress("building cocoon")
	if _, err := w.command(ctx, w.root, nil, "go", "build", "-o", w.cocoon, "./cmd/cocoon"); err != nil {
		w.close()
		return nil, fmt.Errorf("above the working directory (run with go run -C unseen .): %w", err)
	}
	return w, nil
}

func (w *workplace) close() {
	if !w.keep {
		os.RemoveAll(w.folder)
	}
}

func (w *workplace) progress(format string, args ...any) {
	fmt.Fprintf(w.messages, "%s "+format+"\n", append([]any{time.Now().Format(time.TimeOnly)}, args...)...)
}

// command runs a command in a folder, with additional environment variables, and returns its
// output. An error includes the end of what it has printed.
func (w *workplace) command(ctx context.Context, folder string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = folder
	// files left there are removed with the folder
	cmd.Env = append(cmd.Environ(), "TMPDIR="+w.folder)
	cmd.Env = append(cmd.Env, env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	if err == nil {
		return out, nil
	}
	said := string(out)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && len(exit.Stderr) > 0 {
		said += string(exit.Stderr)
	}
	said = wellTested.ReplaceAllString(said, "")
	return out, fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, end(said, 2000))
}

// wellTested matches the lines of a test program that report no failure.
var wellTested = regexp.MustCompile(`(?m)^ *(=== .*|--- (PASS|SKIP): .*)\n`)

// end returns the end of a text, at most n bytes.
func end(s string, n int) string {
	return s[max(0, len(s)-n):]
}

// copyModule copies a module, because the module cache is read-only.
func (w *workplace) copyModule(ctx context.Context, l library) (folder string, err error) {
	// Outside of any module, so that no requirement changes the version.
	out, err := w.command(ctx, w.folder, nil, "go", "mod", "download", "-json", l.module)
	if err != nil {
		return "", err
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(out, &downloaded); err != nil {
		return "", fmt.Errorf("go mod download -json %s: %w", l.module, err)
	}
	folder = filepath.Join(w.folder, l.name, "module")
	if err := os.RemoveAll(folder); err != nil { // of an earlier run
		return "", err
	}
	return folder, os.CopyFS(folder, os.DirFS(downloaded.Dir))
}

// prepare creates a workspace with the library and Cocoon. This leaves the library's go.mod as it
// is: a requirement there would raise the language version.
func (w *workplace) prepare(ctx context.Context, l library) (folder string, err error) {
	module, err := w.copyModule(ctx, l)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(module, "go.mod")); errors.Is(err, os.ErrNotExist) {
		path, _, _ := strings.Cut(l.module, "@")
		if err := os.WriteFile(filepath.Join(module, "go.mod"), []byte("module "+path+"\n"), 0o666); err != nil {
			return "", err
		}
	}
	folder = filepath.Join(module, filepath.FromSlash(l.pkg))
	operation, err := os.ReadFile(filepath.Join("testdata", l.name+".go"))
	if err != nil {
		return "", err
	}
	// The constraint is the version of the language in which operations are written.
	operation = append([]byte("//go:build go1.25\n\n"), operation...)
	if err := os.WriteFile(filepath.Join(folder, "unseen_operation_test.go"), operation, 0o666); err != nil {
		return "", err
	}
	version := strings.TrimPrefix(runtime.Version(), "go")
	others := "module unseen.invalid/others\n\ngo " + version + "\n"
	for _, m := range l.with {
		others += "require " + strings.Replace(m, "@", " ", 1) + "\n"
	}
	if err := os.MkdirAll(filepath.Join(w.folder, l.name, "others"), 0o777); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(w.folder, l.name, "others", "go.mod"), []byte(others), 0o666); err != nil {
		return "", err
	}
	work := fmt.Sprintf("go %s\n\nuse (\n./module\n./others\n%s\n%s\n)\n", version, w.root, filepath.Join(w.root, "unseen"))
	return folder, os.WriteFile(filepath.Join(w.folder, l.name, "go.work"), []byte(work), 0o666)
}

// program is the test program of a library, built by both commands.
type program struct {
	folder       string // the folder to run it in
	plain, polls string
}

// build builds the library's tests, with the operation among them.
func (w *workplace) build(ctx context.Context, l library) (p program, err error) {
	if p.folder, err = w.prepare(ctx, l); err != nil {
		return p, err
	}
	p.plain = filepath.Join(w.folder, l.name, "plain.test")
	p.polls = filepath.Join(w.folder, l.name, "polls.test")
	env := []string{"GOFLAGS=", "GOWORK=" + filepath.Join(w.folder, l.name, "go.work")}
	if _, err := w.command(ctx, p.folder, env, "go", "test", "-c", "-vet=off", "-o", p.plain, "."); err != nil {
		return p, err
	}
	_, err = w.command(ctx, p.folder, env, w.cocoon, "test", "-c", "-vet=off", "-cocoon.pkgs=all,std", "-o", p.polls, ".")
	return p, err
}
