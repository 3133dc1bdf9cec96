package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// workshop is where the programs of native are built: a folder that goes away with it.
type workshop struct {
	folder string
	report *report
	cocoon string // the command
}

// buildCocoon builds the command of this repository.
func (w *workshop) buildCocoon(ctx context.Context) error {
	w.report.progress("cocoon: building")
	w.cocoon = filepath.Join(w.folder, "cocoon")
	if _, err := output(ctx, "..", "go", "build", "-o", w.cocoon, "./cmd/cocoon"); err != nil { // go run -C bench runs here
		return fmt.Errorf("above the working directory (run with go run -C bench .): %w", err)
	}
	return nil
}

// built is the test program of a suite, as both commands build it.
type built struct {
	plain, polls string
	folder       string // to run it in
	skip         string // the suite's
}

// build builds the suite by both commands.
func (w *workshop) build(ctx context.Context, s suite) (b built, err error) {
	w.report.progress("%s: building", s.name)
	from, pkg, flags := ".", s.name, []string{"test", "-c", "-vet=off"}
	switch {
	case s.module != "":
		if from, err = w.copyModule(ctx, s.module); err != nil {
			return b, err
		}
		pkg, flags = ".", append(flags, "-mod=mod") // its tests may need modules that its go.sum lacks
	case s.choice == "":
		pkg = "./" + s.name
	}
	out, err := output(ctx, from, "go", "list", "-find", "-f", "{{.Dir}}", pkg)
	if err != nil {
		return b, err
	}
	b.folder = strings.TrimSpace(string(out))
	b.skip = s.skip
	name := filepath.Join(w.folder, strings.ReplaceAll(s.name, "/", "-"))
	b.plain, b.polls = name+".plain", name+".polls"
	if _, err := output(ctx, from, "go", append(flags, "-o", b.plain, pkg)...); err != nil {
		return b, err
	}
	if s.choice != "" {
		flags = append(flags, "-cocoon.pkgs="+s.choice)
	}
	_, err = output(ctx, from, w.cocoon, append(flags, "-o", b.polls, pkg)...)
	return b, err
}

// copyModule makes a copy that may be built in: the module cache is read-only, and the go command builds the tests of a
// dependency with the main module's requirements.
func (w *workshop) copyModule(ctx context.Context, module string) (folder string, err error) {
	out, err := output(ctx, w.folder, "go", "mod", "download", "-json", module)
	if err != nil {
		return "", err
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(out, &downloaded); err != nil {
		return "", fmt.Errorf("go mod download -json %s printed %q: %w", module, out, err)
	}
	name, _, _ := strings.Cut(filepath.Base(module), "@")
	folder = filepath.Join(w.folder, "modules", name)
	return folder, os.CopyFS(folder, os.DirFS(downloaded.Dir))
}

// output runs a command in a folder and returns what it prints. An error has what the command says of it.
func output(ctx context.Context, folder, name string, args ...string) ([]byte, error) {
	return outputWith(ctx, nil, folder, name, args...)
}

// outputWith does so with more variables in the command's environment.
func outputWith(ctx context.Context, env []string, folder, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(cmd.Environ(), env...)
	cmd.Dir = folder
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // the go command removes what it has begun
	cmd.WaitDelay = 15 * time.Second
	out, err := cmd.Output()
	if err == nil {
		return out, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	said := out
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && len(exit.Stderr) > 0 {
		said = exit.Stderr
	}
	return nil, fmt.Errorf("%s %s: %w\n%s", filepath.Base(name), strings.Join(args, " "), err, said)
}
