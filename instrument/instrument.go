// Package instrument rewrites Go source so that it polls for preemption: at the heads of loops, and
// where the call graph may come back to a function. It knows the packages safepoint and cocoon by
// name only.
//
// # Rewriting
//
// [Rewrite] returns the new texts of a package. Nothing but the polls changes: the texts are
// edited, not printed anew, so that comments, directives and every line number stay.
// docs/safepoints.md says what is rewritten, what never is, and why.
//
// # Gaps
//
// [Gaps] finds the longest stretches of code without a poll. The commands cocoon build and cocoon
// gaps use this package.
package instrument

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
)

// Package is one package of a build, as go list describes it. Test variants are packages of their
// own: the package with its in-package tests, and the external test package.
type Package struct {
	Path  string   // import path, without a variant's " [p.test]"; external tests have "p_test"
	Files []string // absolute paths of the Go files selected for this build, cgo's originals included
	Std   bool     // of the standard library, of which some packages are refused

	// Moved says that the result will be compiled from another folder than its own, so each changed
	// file begins with a line directive that names the original. Not for overlays: there the go
	// command sees to it.
	Moved bool

	// What go list -export says of it. Without export data, or with some missing, calls through
	// what is not known count as calls that may come back: the result has more polls, and is as
	// sound.
	GoVersion string            // language version such as "go1.21"; "" is the newest
	ImportMap map[string]string // source import path to import path, where they differ
	Exports   map[string]string // import path to the file with its export data
}

// Options are the same for all packages of a build.
type Options struct {
	// Sections has the full names of functions that become sections, such as
	// "github.com/dlclark/regexp2.(*Regexp).FindStringMatch" or "encoding/json.Marshal".
	Sections map[string]bool

	// Instrumented reports whether a package is rewritten too, and thus polls where it calls back.
	// Nil: none is.
	Instrumented func(path string) bool

	// Mistaken has the lines in which the compiler has found mistakes that are not in the source,
	// one for each time. The functions around them are rewritten more plainly, or, the second time,
	// not.
	Mistaken []Line
}

// Result is what became of a package.
type Result struct {
	Files map[string][]byte // the new texts, of changed files only, by path; and a file that is new, if any is
	Stats Stats

	// Mistaken says that the package does not type-check, as far as its imports are known. Its
	// errors have their columns in the original text.
	Mistaken bool
}

// Stats say what was done, and what was left out.
type Stats struct {
	Functions int // with a body, literals included
	Loops     int
	LoopPolls int // loops that poll at each iteration
	Strips    int // loops that poll every so many iterations
	Entries   int // polls where a function goes on to calls that may come back to it
	Bulks     int // copies, appends and clearings that are done in pieces if they are large
	Sections  []string
	Left      []Left
}

// Left is a loop or a function that may run long and does not poll.
type Left struct {
	Pos  token.Position
	Func string // such as "(*Regexp).run"
	What string // "loop", "recursion" or "section"
	Why  string
}

// Rewrite returns the package with polls. The files are read from disk. One that does not parse is
// an error that names its place, for each mistake; what does not type-check is left to the
// compiler. The result depends on the arguments and the files alone. A package that is never
// instrumented (see Refused) is an error.
func Rewrite(p Package, o Options) (*Result, error) {
	r, err := decided(p, o)
	if err != nil {
		return nil, err
	}
	return r.result()
}

// decided returns the package with what is decided about it.
func decided(p Package, o Options) (*rewriter, error) {
	if why := Refused(p.Path, p.Std); why != "" {
		return nil, fmt.Errorf("instrument: %s: %s", p.Path, why)
	}
	r := &rewriter{
		pkg: p, opt: o, set: token.NewFileSet(),
		declared: map[types.Object]*code{}, literals: map[*ast.FuncLit]*code{}, carrier: map[types.Type]bool{}, bulks: map[*ast.CallExpr]bool{},
		pollers: map[*code]bool{}, written: map[types.Object]bool{}, passing: map[types.Object]*passes{}, releasers: map[types.Object]lockCall{}, busy: map[place]bool{}, ends: map[place]bool{},
		fresh: map[place]bool{}, makers: map[maker]bool{}, private: map[*code]bool{},
	}
	for _, path := range p.Files {
		if err := r.parse(path); err != nil {
			return nil, err
		}
	}
	r.decide()
	return r, nil
}

// rewriter is one call of Rewrite.
type rewriter struct {
	pkg   Package
	opt   Options
	set   *token.FileSet
	files []*file
	stats Stats

	types     *types.Package
	info      *types.Info
	codes     []*code // in the order of the source
	declared  map[types.Object]*code
	literals  map[*ast.FuncLit]*code
	mistaken  bool
	exempt    string // why nothing polls, or ""
	carrier   map[types.Type]bool
	bulks     map[*ast.CallExpr]bool // calls that are done in pieces
	pollers   map[*code]bool         // whether a function may come to a poll
	written   map[types.Object]bool  // whether a function writes what its parameter leads to
	passing   map[types.Object]*passes
	releasers map[types.Object]lockCall // variables with functions that release locks
	busy      map[place]bool            // lines in which something other than a deferred call may call a poll
	ends      map[place]bool            // lines in which deferred calls are made
	pulls     bool                      // a file has uses of iter.Pull
	fresh     map[place]bool            // lines with a call of a method on what only the function has
	makers    map[maker]bool            // results that are always new
	private   map[*code]bool            // methods that keep their receivers to themselves
	prefix    string                    // of the names that are inserted
}

type file struct {
	path  string
	src   []byte
	tree  *ast.File
	edits edits
	pulls bool // it has uses of iter.Pull
}

func (r *rewriter) parse(path string) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("instrument: %w", err)
	}
	tree, err := parser.ParseFile(r.set, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err // a list of "file:line:column: what"
	}
	r.files = append(r.files, &file{path: path, src: src, tree: tree})
	return nil
}
