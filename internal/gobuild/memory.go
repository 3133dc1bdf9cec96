package gobuild

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// goodFor is the time that a file of findings is kept.
const goodFor = 24 * time.Hour

// settled is how old a file must be for its next change to have a different time: the tick of the
// coarsest clock of the relevant file systems.
const settled = 20 * time.Millisecond

// findings are the results of examining the packages of a command line and their sources. Listing
// the packages with the go command takes half as long as a build with nothing to do, so findings
// are stored until one of their files changes.
type findings struct {
	Sections []string // names that the sources limit
	Files    []stamp
}

// stamp is the recorded state of a file or folder; Size is -1 if it does not exist.
type stamp struct {
	Path          string
	Size, Changed int64
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{path, -1, 0}
	}
	return stamp{path, info.Size(), info.ModTime().UnixNano()}
}

func stampsOf(paths []string) (all []stamp) {
	for _, p := range paths {
		all = append(all, stampOf(p))
	}
	return all
}

// memory returns the file for the findings of the command line, "" without a cache.
func (c *Command) memory(keeps []Keep) string {
	program, err := identity(c.Tool[0])
	cwd, cwdErr := filepath.Abs(c.line.chdir)
	flags, flagsErr := goFlags()
	if c.Cache == "" || err != nil || cwdErr != nil || flagsErr != nil {
		return ""
	}
	parts := []string{program, c.Verb, cwd, flags}
	for _, name := range []string{"GOENV", "GOOS", "GOARCH", "GOWORK", "CGO_ENABLED", "GOEXPERIMENT", "GO111MODULE"} {
		parts = append(parts, os.Getenv(name))
	}
	for _, k := range keeps {
		parts = append(parts, "\x01"+k.By, k.Rule.String())
	}
	words := c.line.words(func(string) bool { return true })
	for _, list := range [][]string{c.patterns, words, c.line.packages} {
		parts = append(append(parts, "\x00"), list...)
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return filepath.Join(c.Cache, "found-"+hex.EncodeToString(sum[:12]))
}

// recall reads findings, if they are still valid.
func recall(memory string) (f findings, ok bool) {
	text, err := os.ReadFile(memory)
	if err != nil || json.Unmarshal(text, &f) != nil {
		return f, false
	}
	return f, !slices.ContainsFunc(f.Files, func(s stamp) bool { return stampOf(s.Path) != s })
}

// remember writes findings for the next build, and removes outdated ones. If the cache cannot be
// written, nothing is remembered. The same holds if a file has changed since shortly before begin,
// when the search for the findings began.
func (f findings) remember(memory string, begin time.Time) {
	young := begin.Add(-settled).UnixNano()
	if memory == "" || slices.ContainsFunc(f.Files, func(s stamp) bool { return s.Changed > young }) {
		return
	}
	dir := filepath.Dir(memory)
	text, err := json.Marshal(f)
	if err != nil || os.MkdirAll(dir, 0o755) != nil {
		return
	}
	all, _ := filepath.Glob(filepath.Join(dir, "found-*"))
	for _, file := range all {
		if info, err := os.Stat(file); err == nil && time.Since(info.ModTime()) >= goodFor {
			_ = os.Remove(file)
		}
	}
	_ = os.WriteFile(memory, text, 0o644)
}

// watched returns the files and folders that the findings come from: sources, documents and folders
// of own packages, the files that define the modules, and, for package patterns, all folders in
// which a package may appear.
func (l *goLine) watched(g graph) (all []stamp) {
	seen := map[string]bool{}
	watch := func(paths ...string) {
		for _, p := range paths {
			if !seen[p] {
				seen[p] = true
				all = append(all, stampOf(p))
			}
		}
	}
	wild := slices.ContainsFunc(l.packages, func(p string) bool { return p == "all" || strings.Contains(p, "...") })
	for _, p := range g {
		if !p.isOwn() {
			continue
		}
		watch(p.Dir)
		watch(p.sources()...)
		watch(p.documents()...)
		if p.Module != nil && p.Module.Main && !seen[p.Module.GoMod] {
			watch(p.Module.GoMod, filepath.Join(p.Module.Dir, "vendor", "modules.txt"))
			if wild {
				watch(folders(p.Module.Dir)...)
			}
		}
	}
	if dir, err := filepath.Abs(l.chdir); err == nil {
		for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			watch(filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.work"))
		}
	}
	if file := goEnvFile(); file != "" {
		watch(file)
	}
	return all
}

// folders returns the folders below root in which the go command looks for packages.
func folders(root string) (all []string) {
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		if name := d.Name(); path != root && (name == "testdata" || name == "vendor" || name[0] == '.' || name[0] == '_') {
			return filepath.SkipDir
		}
		all = append(all, path)
		return nil
	})
	return all
}
