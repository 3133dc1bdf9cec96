package instrument

import (
	"fmt"
	"slices"
	"strings"
)

func (w *writer) statement() {
	if n := w.IntN(20); n < 6 && w.depth < 4 {
		w.loop()
	} else if n < 9 && w.depth < 5 {
		w.branch()
	} else if n < 12 {
		w.jump()
	} else {
		w.simple()
	}
}

func (w *writer) simple() {
	typ := pick(w, integers)
	free := slices.DeleteFunc(slices.Clone(w.vars), func(v variable) bool { return v.fixed })
	switch w.IntN(9) {
	case 0, 1, 2:
		w.line("r = r*31 + uint64(%s)", w.expr(typ))
	case 3:
		if len(free) > 0 {
			v := pick(w, free)
			w.line("%s %s %s", v.name, pick(w, strings.Fields("= += -= *= ^= |=")), w.expr(v.typ))
		}
	case 4:
		w.declare(typ, "("+w.expr(typ)+")")
	case 5:
		w.line("if len(s) > 0 { s[uint(%s)%%uint(len(s))] += uint16(%s) }", w.expr(typ), w.expr(typ))
	case 6:
		if w.IntN(4) == 0 {
			w.line("r += uint64(s[%s])", w.expr(typ)) // out of range, perhaps
		} else {
			w.line("r += uint64(len(s[:uint(%s)%%uint(len(s)+1)]))", w.expr(typ))
		}
	case 7:
		if w.nested < 2 {
			w.data()
		}
	case 8:
		w.literal()
	}
}

// data copies data, in pieces if there is much of it.
func (w *writer) data() {
	switch w.IntN(4) {
	case 0:
		w.line("if len(s) < 3000 { s = append(s, uint16(r)) }")
	case 1:
		w.line("if len(s) < 3000 { s = append(s, s[:len(s)/2]...) }")
	case 2:
		w.line("copy(s, s[len(s)/3:])")
	case 3:
		w.line("clear(s[:len(s)/4])")
	}
}

// literal calls a function literal: immediately, deferred, or later from each iteration.
func (w *writer) literal() {
	if w.depth > 4 || w.nested > 2 {
		return
	}
	call := "func() {"
	if w.IntN(3) == 0 && len(w.loops) == 0 {
		call = "defer func() {"
	}
	w.line("%s", call)
	loops, closed := w.loops, w.closed
	w.loops, w.closed = nil, true
	w.block(1, 1+w.IntN(2))
	w.loops, w.closed = loops, closed
	w.line("}()")
}

func (w *writer) branch() {
	if w.IntN(3) == 0 {
		w.line("switch uint64(%s) %% 4 {", w.expr(pick(w, integers)))
		for n := range 2 + w.IntN(2) {
			w.line("case %d:", n)
			w.block(1, 1+w.IntN(2))
			if n == 0 && w.IntN(2) == 0 {
				w.line("\tfallthrough")
			}
		}
		w.line("default:")
		w.block(1, 1)
		w.line("}")
		return
	}
	w.line("if %s {", w.cond())
	w.block(1, 1+w.IntN(2))
	if w.IntN(2) == 0 {
		w.line("} else {")
		w.block(1, 1+w.IntN(2))
	}
	w.line("}")
}

// jump leaves a loop or the function, or calls a function.
func (w *writer) jump() {
	burns := !slices.ContainsFunc(w.loops, func(l jumpTarget) bool { return !l.burns }) && !w.closed
	switch n := w.IntN(6); {
	case n < 2 && len(w.loops) > 0:
		l := pick(w, w.loops)
		if l.label == "" {
			l.label = w.loops[len(w.loops)-1].label
		}
		w.line("if %s { %s }", w.cond(), strings.TrimSpace(pick(w, []string{"break", "continue"})+" "+l.label))
	case n == 2 && !w.closed:
		w.line("if %s && %s { return r + uint64(%s) }", w.cond(), w.cond(), w.leaf(pick(w, integers)))
	case n == 3 && burns && w.self > 0:
		w.line("if fuel -= 50; fuel > 0 { r ^= f%d[T](a, b, s) }", w.IntN(w.self))
	case n == 4 && burns:
		w.line("if fuel -= 500; fuel > 0 { r ^= f%d[T](b-1, a+1, s[:len(s)/2]) }", w.self)
	default:
		w.line("r = r<<5 ^ r>>3 + uint64(%s)", w.leaf(pick(w, integers)))
	}
}

// limit declares the maximum number of iterations, a small one in inner loops.
func (w *writer) limit(typ string) string {
	mask := 3
	switch {
	case w.nested == 0 && slices.Contains(narrow, typ):
		mask = 63
	case w.nested == 0:
		mask = 2047
	case w.nested == 1:
		mask = 7
	}
	name := w.name("n")
	w.line("%s := (%s) & %d", name, w.expr(typ), mask)
	return name
}

// loop writes a loop of any form.
func (w *writer) loop() {
	typ, i := pick(w, integers), w.name("i")
	counted := variable{i, typ, true}
	forms := []func(){
		func() { // up
			n := w.limit(typ)
			w.body(fmt.Sprintf("for %s := %s(%d); %[1]s %[4]s %[5]s; %[1]s += %[6]d {", i, typ, w.IntN(3), pick(w, []string{"<", "<="}), n, 1+w.IntN(9)), false, "", counted)
		},
		func() { // by one
			n := w.limit(typ)
			w.body(fmt.Sprintf("for %s := %s(0); %[1]s < %[3]s && (%[4]s); %[1]s++ {", i, typ, n, w.cond()), false, "", counted)
		},
		func() { // down
			n := w.limit(typ)
			w.body(fmt.Sprintf("for %s := %s; %[1]s > 0; %[1]s-- {", i, n), false, "", counted)
		},
		func() { // with any comparison and step
			w.body(fmt.Sprintf("for %s := %s; %[1]s %[3]s %[4]s; %[1]s %[5]s %[6]d {", i, w.expr(typ), pick(w, strings.Fields("< <= > >= !=")), w.leaf(typ), pick(w, []string{"+=", "-="}), 1+w.IntN(100)), true, "", variable{i, typ, w.IntN(2) == 0})
		},
		func() { // two counters
			n, j := w.limit(typ), w.name("j")
			w.body(fmt.Sprintf("for %s, %s := %s(0), %s; %[1]s < %[2]s; %[1]s, %[2]s = %[1]s+1, %[2]s-1 {", i, j, typ, n), false, "", counted, variable{j, typ, true})
		},
		func() { // over the slice, which may grow
			w.body(fmt.Sprintf("for %s := 0; %[1]s < len(s); %[1]s++ {", i), true, "", variable{i, "int", true})
		},
		func() { w.body("for {", true, "") },
		func() { w.body(fmt.Sprintf("for %s {", w.cond()), true, "") },
		func() {
			n := w.limit(typ)
			w.line("%s := %s(0)", i, typ)
			w.body(fmt.Sprintf("for %s < %s {", i, n), false, i+"++", counted)
		},
		func() { // the step is last
			n := w.limit(typ)
			w.line("%s := %s(0)", i, typ)
			w.last = i + "++"
			w.body(fmt.Sprintf("for %s %s %s {", i, pick(w, []string{"<", "!="}), n), true, "", counted)
			w.line("r += uint64(%s)", i)
		},
		func() { // the counter is declared before
			n := w.limit(typ)
			w.line("%s := %s", i, n)
			w.body(fmt.Sprintf("for %s; %s > 0; %[2]s-- {", pick(w, []string{"", i + " = " + n, i + ", r = " + n + ", r+1"}), i), false, "", counted)
			w.line("r += uint64(%s)", i)
		},
		func() { w.goTo(typ, i) },
		func() {
			v := w.name("x")
			w.body(fmt.Sprintf("for %s, %s := range s[:len(s)/2] {", i, v), w.nested > 0, "", variable{i, "int", true}, variable{v, "uint16", true})
		},
		func() { w.body(fmt.Sprintf("for %s := range s {", i), w.nested > 0, "", variable{i, "int", true}) },
		func() {
			v := w.name("x")
			w.body(fmt.Sprintf("for %s, %s := range %s[5]uint32{1, 2, 3, uint32(r), 5} {", i, v, pick(w, []string{"", "&"})), false, "", variable{i, "int", true}, variable{v, "uint32", true})
		},
		func() {
			v := w.name("x")
			w.body(fmt.Sprintf("for %s, %s := range %s(fmt.Sprint(r, \"ä\\xff\")) {", i, v, pick(w, []string{"string", "[]rune"})), false, "", variable{i, "int", true}, variable{v, "int32", true})
		},
		func() {
			c := w.name("c")
			w.line("%s := make(chan uint8, 3); %[1]s <- 1; %[1]s <- uint8(r); close(%[1]s)", c)
			w.body(fmt.Sprintf("for %s := range %s {", i, c), false, "", variable{i, "uint8", true})
		},
	}
	if w.nested < 2 {
		forms = append(forms, func() { w.captured(i) })
	}
	if w.modern {
		forms = append(forms,
			func() { w.body(fmt.Sprintf("for %s := range %s {", i, w.limit(typ)), false, "", counted) },
			func() { w.body(fmt.Sprintf("for range %s {", w.limit(typ)), false, "") },
			func() {
				typ := pick(w, []string{"int", "int8", "uint8"})
				w.body(fmt.Sprintf("for %s := range upTo(%s) {", i, w.limit(typ)), false, "", variable{i, typ, true})
			},
			func() {
				v := w.name("x")
				w.body(fmt.Sprintf("for %s, %s := range pairs(s[:len(s)/4]) {", i, v), w.nested > 0, "", variable{i, "int", true}, variable{v, "uint16", true})
			},
		)
	}
	w.line("{")
	pick(w, forms)()
	w.line("}")
}

// body writes the loop: its head, and a body that starts with first, ends with w.last, and burns
// fuel if the loop may be long.
func (w *writer) body(head string, burns bool, first string, counters ...variable) {
	l, last := jumpTarget{burns: burns}, w.last
	w.last = ""
	if w.IntN(3) == 0 {
		l.label = w.name("L")
		w.line("%s:", l.label)
	}
	w.line("%s", head)
	w.loops, w.vars = append(w.loops, l), append(w.vars, counters...)
	w.nested++
	w.depth++
	if first != "" {
		w.line("%s", first)
	}
	if burns {
		w.line("if fuel--; fuel < 0 { break }")
	}
	for _, c := range counters {
		w.line("_ = %s", c.name)
	}
	if l.label != "" {
		w.line("if %s { %s %s }", w.cond(), pick(w, []string{"break", "continue"}), l.label)
	}
	w.depth--
	if w.IntN(3) == 0 { // cheap, and therefore in pieces
		w.line("\tr = r*31 + uint64(%s)", w.expr(pick(w, integers)))
		if w.IntN(2) == 0 {
			w.rare()
		}
	} else {
		w.block(1, 1+w.IntN(3))
	}
	if last != "" {
		w.line("\t%s", last)
	}
	w.loops, w.vars = w.loops[:len(w.loops)-1], w.vars[:len(w.vars)-len(counters)]
	w.nested--
	w.line("}")
}

// goTo is a loop without a loop statement.
func (w *writer) goTo(typ, i string) {
	n, label := w.limit(typ), w.name("again")
	w.line("%s := %s(0)", i, typ)
	w.line("%s:", label)
	w.line("if %s++; %[1]s < %s {", i, n)
	w.line("\tr = r*7 + uint64(%s)", w.expr(typ))
	w.line("\tgoto %s", label)
	w.line("}")
}

// captured keeps the variable of each iteration, or its address.
func (w *writer) captured(i string) {
	all := w.name("all")
	w.line("var %s []func() int", all)
	if w.IntN(2) == 0 {
		w.line("for %s := 0; %[1]s < len(s)/100; %[1]s += 1 {", i)
		w.line("\t%s = append(%[1]s, func() int { %s += 2; return %[2]s })", all, i)
	} else {
		w.line("for %s := range s[:len(s)/100] {", i)
		w.line("\tp := &%s", i)
		w.line("\t%s = append(%[1]s, func() int { *p += 2; return *p })", all)
	}
	w.line("}")
	w.line("for _, f := range %s { r = r*3 + uint64(f()) }", all)
}
