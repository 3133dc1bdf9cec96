package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// built is the test program of a suite, as built by both commands.
type built struct {
	layouts []layout // at least one
	folder  string   // the folder to run it in
	skip    string   // the suite's
}

// layout is the two programs with the functions in one random order.
type layout struct{ plain, polls string }

// build builds the suite by both commands, in a number of layouts. The place of a short loop in the
// cache lines of the code changes its time by a factor of up to 2, so a single layout says little
// about polls.
func (w *workshop) build(ctx context.Context, s suite, layouts int) (b built, err error) {
	w.report.progress("%s: building", s.name)
	from, pkg, flags := ".", s.name, []string{"test", "-c", "-vet=off"}
	switch {
	case s.module != "":
		if from, err = w.copyModule(ctx, s.module); err != nil {
			return b, err
		}
		// Its tests may need modules that its go.sum lacks.
		pkg, flags = ".", append(flags, "-mod=mod")
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
	for i := 1; i <= layouts; i++ {
		l := layout{fmt.Sprintf("%s-%d.plain", name, i), fmt.Sprintf("%s-%d.polls", name, i)}
		flags := append(slices.Clone(flags), fmt.Sprintf("-ldflags=-randlayout=%d", i))
		if _, err := output(ctx, from, "go", append(flags, "-o", l.plain, pkg)...); err != nil {
			return b, err
		}
		if s.choice != "" {
			flags = append(flags, "-cocoon.pkgs="+s.choice)
		}
		if _, err := output(ctx, from, w.cocoon, append(flags, "-o", l.polls, pkg)...); err != nil {
			return b, err
		}
		b.layouts = append(b.layouts, l)
	}
	return b, nil
}

// copyModule makes a copy in which a build is possible: the module cache is read-only, and the go
// command builds the tests of a dependency with the main module's requirements.
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
