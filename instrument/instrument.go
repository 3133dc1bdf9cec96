// Package instrument rewrites Go source so that it polls for preemption: at the heads of loops, and
// where the call graph may lead back to a function. It refers to the packages safepoint and cocoon
// only by name.
//
// # Rewriting
//
// [Rewrite] returns the new texts of a package. It adds polls, splits loops so that a poll is
// cheap, opens sections, and replaces calls that copy or allocate much. It edits the texts instead
// of printing them anew, so comments and directives stay, and so do the line numbers, except those
// of some returns (see returns.go). docs/safepoints.md says which code is rewritten, which code
// never is, and why.
//
// # Gaps
//
// [Gaps] finds the longest stretches of code without a poll. The commands cocoon build and cocoon
// gaps use this package.
//
// # Files
//
// Rewrite parses and type-checks a package (instrument.go, types.go), collects its functions and
// literals (collect.go, code.go), decides (decide in emit.go) and writes the texts (edits.go).
// Which file to read for which question:
//
//   - Where does a loop get its poll: loops.go. How is a counted loop split into pieces: strip.go,
//     striprange.go; its counter and limit: counter.go, counterwhile.go, limit.go; the text of a
//     piece: piece.go. Iterators and iter.Pull: iterator.go, pull.go.
//   - Which functions poll at their entry, and where: calls.go and components.go find calls that
//     lead back, enter.go chooses the place; inline.go keeps small functions inlinable; cost.go
//     weighs code.
//   - Calls that copy or allocate much: bulk.go, bulkmade.go, bulktext.go.
//   - Functions that become sections: section.go, failure.go.
//   - Where a lock is held: hold.go, locks.go, lockflow.go, groups.go, flags.go; which locks a
//     throw may pass: lockpass.go, passedcalls.go, fresh.go; the lines for the runtime: held.go.
//   - Where a resource has no deferred release yet: acquired.go and the other acquired*.go,
//     byhand.go, handed.go, closers.go, promises.go, pools.go, dispensable.go.
//   - Other stretches that a throw must not leave half-way: publish.go, publishflow.go (published
//     values), ticket.go, waited.go and the other waited*.go (goroutines that are waited for),
//     writes.go. The list of all stretches in which a task is not unwound: keeps.go.
//   - What is not rewritten: refused.go, directives.go; what is rewritten in a simpler way after
//     the compiler has reported a mistake: careful.go.
//   - The lines of returns: returns.go.
//   - Gaps: gaps.go, path.go, reason.go, lost.go, links.go.
package instrument

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
)

// Package is one package of a build, as go list describes it. Test variants are separate packages:
// the package with its in-package tests, and the external test package.
type Package struct {
	Path string // import path, without a variant's " [p.test]"; external tests have "p_test"
	// absolute paths of the Go files selected for this build, including cgo's originals
	Files []string
	Std   bool // part of the standard library, of which some packages are refused

	// Moved means that the result will be compiled from another folder, so each changed file begins
	// with a line directive that names the original. Overlays do not need it: the go command adds
	// the directives there.
	Moved bool

	// The output of go list -export. If export data is missing, unknown calls count as calls that
	// may lead back: the result has more polls, and is equally sound.
	GoVersion string            // language version such as "go1.21"; "" is the newest
	ImportMap map[string]string // source import path to import path, where they differ
	Exports   map[string]string // import path to the file with its export data
}

// Options apply to all packages of a build.
type Options struct {
	// Sections has the full names of functions that become sections, such as
	// "github.com/dlclark/regexp2.(*Regexp).FindStringMatch" or "encoding/json.Marshal".
	Sections map[string]bool

	// Instrumented reports whether a package is rewritten too, and so polls where it calls back. If
	// it is nil, no package is.
	Instrumented func(path string) bool

	// Mistaken lists the lines for which the compiler has reported mistakes that the source does
	// not have, once for each compilation. The functions around them are rewritten in a simpler
	// way, and after the second mistake not at all.
	Mistaken []Line
}

// Result is a rewritten package.
type Result struct {
	// the texts of changed files and of the additional file, if any, by path
	Files map[string][]byte
	Stats Stats

	// Mistaken means that the package does not type-check, as far as its imports are known. The
	// columns of its errors are correct in the original text.
	Mistaken bool
}

// Stats counts what Rewrite did and left out.
type Stats struct {
	Functions int // functions with a body, including literals
	Loops     int
	LoopPolls int // loops with a poll at each iteration
	Strips    int // loops in pieces, with a poll before each
	Entries   int // polls in functions before calls that may lead back
	Bulks     int // copies, appends and clears that run in pieces if they are large
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

// Rewrite returns the package with polls. It reads the files from disk. For a file that does not
// parse, it returns an error with the position of each mistake. It leaves type errors to the
// compiler. The result depends only on the arguments and the files. A package that is never
// instrumented (see Refused) is an error.
func Rewrite(p Package, o Options) (*Result, error) {
	r, err := decided(p, o)
	if err != nil {
		return nil, err
	}
	return r.result(), nil
}

// decided returns the package with all decisions about it.
func decided(p Package, o Options) (*rewriter, error) {
	if why := Refused(p.Path, p.Std); why != "" {
		return nil, fmt.Errorf("instrument: %s: %s", p.Path, why)
	}
	r := &rewriter{
		pkg: p, opt: o, set: token.NewFileSet(),
		declared: map[types.Object]*code{}, literals: map[*ast.FuncLit]*code{}, carrier: map[types.Type]bool{}, bulks: map[*ast.CallExpr]bool{},
		assigned: map[*types.Var]bool{}, pollers: map[*code]bool{}, tellers: map[*code]bool{}, written: map[types.Object]bool{}, completed: map[types.Object]bool{}, passing: map[types.Object]*passes{}, releasers: map[types.Object]lockCall{}, closures: map[types.Object][]*ast.FuncLit{}, receivers: map[types.Object][]ast.Expr{}, busy: map[place]bool{}, ends: map[place]bool{},
		locking: map[*ast.BlockStmt][]lockNode{}, fresh: map[place]bool{}, byHand: map[place]bool{}, makers: map[maker]bool{}, private: map[*code]bool{}, releasable: map[types.Type]bool{},
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
	codes     []*code // in source order
	declared  map[types.Object]*code
	literals  map[*ast.FuncLit]*code
	mistaken  bool
	exempt    string // the reason why nothing polls, or ""
	carrier   map[types.Type]bool
	bulks     map[*ast.CallExpr]bool // calls that run in pieces
	assigned  map[*types.Var]bool    // whether a call assigns a variable
	pollers   map[*code]bool         // whether a function may reach a poll
	tellers   map[*code]bool         // whether a function only tells something, see tells
	written   map[types.Object]bool  // whether a function writes through its parameter
	completed map[types.Object]bool  // whether a function completes the data of its parameter
	passing   map[types.Object]*passes
	releasers map[types.Object]lockCall       // variables with functions that release locks
	closures  map[types.Object][]*ast.FuncLit // the literals assigned to a variable
	receivers map[types.Object][]ast.Expr     // the receivers of the method values assigned to it
	pools     map[types.Object]bool           // see knownPools
	locking   map[*ast.BlockStmt][]lockNode
	// lines on which something other than a deferred call may call a poll
	busy  map[place]bool
	ends  map[place]bool // lines on which deferred calls run
	pulls bool           // a file uses iter.Pull
	fails bool           // a deferred call learns of throws
	// lines on which a function has a resource that no deferred call will release
	byHand map[place]bool
	// lines with a method call on an unshared value of the function
	fresh   map[place]bool
	makers  map[maker]bool // results with new values only
	private map[*code]bool // methods that do not share their receivers
	tails   []tail
	unrolls []unrolled // loops to write several times, see writeUnrolled
	// types of values that are released, see isReleasable and releasedTypes
	releasable map[types.Type]bool
	backs      []types.Type
	entrusted  []result                 // see findEntrusted
	promises   map[*types.TypeName]bool // types whose values complete themselves, see isPromise
	prefix     string                   // of inserted names
}

type file struct {
	path  string
	src   []byte
	tree  *ast.File
	edits edits
	pulls bool // it uses iter.Pull
}

func (r *rewriter) parse(path string) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("instrument: %w", err)
	}
	tree, err := parser.ParseFile(r.set, path, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err // a list of "file:line:column: message"
	}
	r.files = append(r.files, &file{path: path, src: src, tree: tree})
	return nil
}
