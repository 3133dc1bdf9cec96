package gobuild

import (
	"fmt"
	"go/ast"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/cocoon-go/cocoon/instrument"
)

// compile is a command line of the compiler for a package that will be rewritten.
type compile struct {
	front  []string // words up to the compiler itself
	flags  []string // without the marking flags
	files  []string
	output string // file
	cfg    string // file that lists where imports are
	lang   string // "go1.21"
	std    bool
	tested bool // rewrite only if the package is in Tested

	keeps    []string          // rules for package safepoint
	sections []string          // functions of this package that become sections
	mistaken []instrument.Line // lines of rewritten code that the compiler refuses
}

// parseCompile parses a command line; ok is false if it is not a compiler's, or has no key.
func parseCompile(line []string) (c compile, ok bool) {
	i := slices.IndexFunc(line, func(w string) bool { return isTool(w, "compile") })
	if i < 0 {
		return c, false
	}
	c.front = line[:i+1]
	args := line[i+1:]
	files := len(args)
	for files > 0 && strings.HasSuffix(args[files-1], ".go") {
		files--
	}
	c.files = args[files:]
	for j, arg := range args[:files] {
		name, value, has := strings.Cut(arg, "=")
		if tested := strings.HasPrefix(arg, testedFlag); tested || strings.HasPrefix(arg, keyFlag) {
			ok, c.tested = true, tested
			continue
		}
		if s, isSection := strings.CutPrefix(arg, sectionFlag); isSection {
			c.sections = append(c.sections, s)
			continue
		}
		if rule, isKeep := strings.CutPrefix(arg, keepFlag); isKeep {
			ok, c.keeps = true, append(c.keeps, rule)
			continue
		}
		c.flags = append(c.flags, arg)
		if !has && j+1 < files {
			value = args[j+1]
		}
		switch name {
		case "-o":
			c.output = value
		case "-importcfg":
			c.cfg = value
		case "-lang":
			c.lang = value
		case "-std":
			c.std = true
		}
	}
	return c, ok
}

func (c compile) original() []string { return slices.Concat(c.front, c.flags, c.files) }

// rewritten rewrites the package and returns the command line with the new files, which are placed
// next to the output. mistaken means that the rewriting has found errors in the package, which the
// compiler will report. A package that cannot be rewritten stays unchanged, unless that would lose
// a section.
func (c compile) rewritten(chosen choice) (words []string, mistaken bool, err error) {
	path := target()
	if path == safepointPath && len(c.keeps) > 0 {
		words, err = c.keeping()
		return words, false, err
	}
	if c.tested && !slices.Contains(Tested, path) || isKept(path) || instrument.Refused(path, c.std) != "" {
		return c.original(), false, nil
	}
	p := instrument.Package{Path: path, Files: c.files, Std: c.std, Moved: true, GoVersion: c.lang}
	if p.ImportMap, p.Exports, err = readImports(c.cfg); err != nil {
		return nil, false, err
	}
	sections := map[string]bool{}
	for _, s := range c.sections {
		sections[s] = true
	}
	result, err := attempt(p, instrument.Options{Sections: sections, Instrumented: chosen.has, Mistaken: c.mistaken})
	if err != nil && len(c.sections) > 0 {
		return nil, false, fmt.Errorf("a policy limits %s, and its package cannot be rewritten: %w", c.sections[0], err)
	}
	if err != nil {
		chosen.explain("cannot be rewritten, and is compiled without polls:\n%v", err)
		return c.original(), false, nil
	}
	if err := missing(path, c.sections, result.Stats); err != nil {
		return nil, false, err
	}
	files, err := c.write(result.Files)
	return slices.Concat(c.front, c.flags, files), result.Mistaken, err
}

// missing returns an error for functions of the package that should have become sections and did
// not. Names such as regex.match, without folder, receiver or capital letter, may be names of
// sections that code opens itself.
func missing(path string, want []string, made instrument.Stats) error {
	for _, s := range want {
		isFunction := strings.ContainsAny(s, "/(") || ast.IsExported(s[strings.LastIndex(s, ".")+1:])
		if !isFunction || slices.Contains(made.Sections, s) {
			continue
		}
		for _, l := range made.Left {
			if l.What == "section" && path+"."+l.Func == s {
				return fmt.Errorf("%v: a policy limits %s, which cannot be a section: %s", l.Pos, s, l.Why)
			}
		}
		return fmt.Errorf("a policy limits %s, and package %s has no such function; want PATH.Func, PATH.Type.Method or PATH.(*Type).Method", s, path)
	}
	return nil
}

// attempt rewrites the package. A panic of the rewriting becomes an error, because it must not end
// the build.
func attempt(p instrument.Package, o instrument.Options) (result *instrument.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("instrument: panic: %v\n%s", r, debug.Stack())
		}
	}()
	return rewrite(p, o)
}

var rewrite = instrument.Rewrite // tests replace it

// write writes the new texts to a folder next to the output, and returns the files of the package
// in their order. Files that the go command has generated stay unchanged. Where two files have the
// same name, as overlays may cause, the later one gets a folder of its own.
func (c compile) write(texts map[string][]byte) ([]string, error) {
	folder := filepath.Join(filepath.Dir(c.output), "cocoon")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, fmt.Errorf("rewriting: %w", err)
	}
	files := slices.Clone(c.files)
	for n, path := range slices.Sorted(maps.Keys(texts)) {
		text, i := texts[path], slices.Index(c.files, path)
		if i >= 0 && strings.HasPrefix(filepath.Base(path), "_") {
			continue
		}
		file := filepath.Join(folder, filepath.Base(path))
		if slices.Contains(files, file) {
			file = filepath.Join(folder, strconv.Itoa(n), filepath.Base(path))
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				return nil, fmt.Errorf("rewriting: %w", err)
			}
		}
		if err := os.WriteFile(file, text, 0o666); err != nil {
			return nil, fmt.Errorf("rewriting: %w", err)
		}
		if i < 0 {
			files = append(files, file)
		} else {
			files[i] = file
		}
	}
	return files, nil
}

// readImports parses the file that tells the compiler where its imports are.
func readImports(cfg string) (mapped, exports map[string]string, err error) {
	mapped, exports = map[string]string{}, map[string]string{}
	if cfg == "" {
		return mapped, exports, nil
	}
	text, err := os.ReadFile(cfg)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the imports: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		kind, pair, _ := strings.Cut(strings.TrimSpace(line), " ")
		path, value, _ := strings.Cut(pair, "=")
		switch kind {
		case "importmap":
			mapped[path] = value
		case "packagefile":
			exports[path] = value
		}
	}
	return mapped, exports, nil
}
