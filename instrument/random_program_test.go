package instrument

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// generated is a random program, with its language version.
type generated struct{ text, language string }

// writer writes a random program. Each of its functions terminates: loops are short by their text,
// or burn fuel.
type writer struct {
	*rand.Rand
	strings.Builder
	modern bool         // the language version is Go 1.25, else Go 1.21
	names  int          // number of names taken
	vars   []variable   // in scope
	loops  []jumpTarget // around the current position, the innermost last
	depth  int          // of blocks
	nested int          // enclosing loops, including loops around a function literal
	self   int          // index of the current function
	closed bool         // in a function literal, which break and continue cannot leave
	last   string       // the last statement of the next loop, or ""
}

type variable struct {
	name, typ string
	fixed     bool // a counter, which the body must not change
}

// jumpTarget is a loop, as the target of a break or continue.
type jumpTarget struct {
	label string
	burns bool // fuel
}

var (
	integers = strings.Fields("int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr small wide T")
	narrow   = strings.Fields("int8 uint8 small T")
)

const randomFunctions = 30

func randomProgram(seed uint64) generated {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 1)), modern: seed%3 != 0}
	w.WriteString(randomDriver + randomHook)
	if w.modern {
		w.WriteString(randomIterators)
	}
	var calls strings.Builder
	for w.self = range randomFunctions {
		w.function()
		for _, args := range []string{"0, 0", "3, 5", "100, 7", "-1, 1000", "1 << 62, -1 << 62", "127, 128", "-128, 255"} {
			fmt.Fprintf(&calls, "\ttry(\"f%d(%s)\", func() uint64 { return f%[1]d[int8](%[2]s, numbers(%d)) })\n", w.self, args, 1+w.IntN(1500))
		}
	}
	language := "1.21"
	if w.modern {
		language = "1.25"
	}
	return generated{w.String() + fmt.Sprintf(randomMain, calls.String()), language}
}

const randomDriver = `package main

import (
	"fmt"
	"os"
	"random/raise"
	"runtime"
	"strings"
)

type (
	small int8
	wide  int64
)

var fuel, calls int

func odd(n uint64) bool { calls++; return n%2 == 1 }

func numbers(n int) []uint16 {
	s := make([]uint16, n)
	for i := range s {
		s[i] = uint16(i * 77)
	}
	return s
}

func try(name string, f func() uint64) {
	fuel, calls = 5000, 0
	defer func() {
		if p := recover(); p != nil {
			fmt.Println(name, "panics:", p, where(), calls, fuel)
		}
	}()
	fmt.Println(name, f(), calls, fuel)
}

// where is the innermost function on the stack that was generated, and its line.
func where() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "main.f") || !more {
			return fmt.Sprint(f.Function, ":", f.Line)
		}
	}
}
`

const randomIterators = `
func upTo[N ~int | ~int8 | ~uint8](n N) func(func(N) bool) {
	return func(yield func(N) bool) {
		for i := N(0); i < n && yield(i); i++ {
		}
	}
}

func pairs(s []uint16) func(func(int, uint16) bool) {
	return func(yield func(int, uint16) bool) {
		defer func() { calls++ }()
		for i, v := range s {
			if !yield(i, v) {
				return
			}
		}
	}
}
`

const randomMain = `
func main() {
	if len(os.Args) > 1 {
		raise.Raise()
		defer func() { fmt.Println("polls", raise.Polls) }()
	}
%s}
`

func (w *writer) line(format string, args ...any) {
	w.WriteString(strings.Repeat("\t", w.depth+1))
	fmt.Fprintf(w, format+"\n", args...)
}

func (w *writer) name(prefix string) string { w.names++; return fmt.Sprint(prefix, w.names) }

func pick[T any](w *writer, from []T) T { return from[w.IntN(len(from))] }

func (w *writer) function() {
	fmt.Fprintf(w, "\nfunc f%d[T ~int8](a, b int64, s []uint16) (r uint64) {\n", w.self)
	w.vars, w.loops = nil, nil
	for range 4 {
		w.declare(pick(w, integers), fmt.Sprintf("(%s)", pick(w, []string{"a", "b", "a+b", "a^b"})))
	}
	w.block(0, 3+w.IntN(4))
	w.line("return r")
	w.WriteString("}\n")
}

// declare declares a variable of the type.
func (w *writer) declare(typ, value string) {
	v := variable{name: w.name("v"), typ: typ}
	w.line("%s := %s%s", v.name, typ, value)
	w.line("_ = %s", v.name)
	w.vars = append(w.vars, v)
}

// block writes statements, with variables that end with the block.
func (w *writer) block(deeper, statements int) {
	before := len(w.vars)
	w.depth += deeper
	for range statements {
		w.statement()
	}
	w.depth -= deeper
	w.vars = w.vars[:before]
}

// expr returns an expression of the type that is not constant.
func (w *writer) expr(typ string) string {
	if w.IntN(3) > 0 {
		return w.leaf(typ)
	}
	switch op := pick(w, strings.Fields("+ - * & | ^ &^ / % << >>")); op {
	case "/", "%":
		return fmt.Sprintf("(%s %s (%s | 1))", w.expr(typ), op, w.leaf(typ))
	case "<<", ">>":
		return fmt.Sprintf("(%s %s (uint(%s) & 15))", w.expr(typ), op, w.leaf(typ))
	default:
		if w.IntN(2) == 0 {
			return fmt.Sprintf("(%s %s %d)", w.expr(typ), op, 1+w.IntN(100))
		}
		return fmt.Sprintf("(%s %s %s)", w.expr(typ), op, w.leaf(typ))
	}
}

func (w *writer) leaf(typ string) string {
	of := slices.DeleteFunc(slices.Clone(w.vars), func(v variable) bool { return v.typ != typ })
	if len(of) > 0 && w.IntN(4) > 0 {
		return pick(w, of).name
	}
	return fmt.Sprintf("%s(%s)", typ, pick(w, append(w.vars, variable{name: "r"}, variable{name: "b"}, variable{name: "len(s)"})).name)
}

func (w *writer) cond() string {
	typ := pick(w, integers)
	c := fmt.Sprintf("%s %s %s", w.expr(typ), pick(w, strings.Fields("< <= > >= == !=")), w.leaf(typ))
	switch w.IntN(6) {
	case 0:
		return fmt.Sprintf("%s && %s", c, w.cond())
	case 1:
		return fmt.Sprintf("%s || !(%s)", c, w.cond())
	case 2:
		return fmt.Sprintf("odd(uint64(%s))", w.expr(typ))
	}
	return c
}
