// Command bulk copies, appends and clears much and little. Its output, capacities included, must not depend on being
// rewritten. The argument is all, few for less of both types and sizes, or count to print how often it polls instead.
package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"unsafe"
)

// sizes are on both sides of what is done in pieces, and of pieces.
var sizes = []int{0, 1, 1000, 1<<18 - 1, 1 << 18, 1<<18 + 1, 1<<20 + 77}

type named []byte

type pair struct {
	a *int
	b string
}

type large [300_000]byte

func main() {
	attach()
	if os.Args[1] == "count" {
		count()
		return
	}
	for i := range numbers {
		numbers[i] = i
	}
	each("byte", func(i int) byte { return byte(i) }, func(v byte) int { return int(v) })
	each("pair", func(i int) pair { return pair{&numbers[i%len(numbers)], "x"} }, func(v pair) int { return len(v.b)*value(v.a) + value(v.a) })
	otherTypes()
	fmt.Println("unused", unused(numbers[:]))
	texts()
	order()
	panics()
	library()
}

func otherTypes() {
	each("int32", func(i int) int32 { return int32(i) }, func(v int32) int { return int(v) })
	each("int", func(i int) int { return i }, func(v int) int { return v })
	each("pointer", func(i int) *int { return &numbers[i%len(numbers)] }, value)
	each("empty", func(i int) struct{} { return struct{}{} }, func(struct{}) int { return 1 })
	each("large", func(i int) large { return large{byte(i)} }, func(v large) int { return int(v[0]) })
}

var numbers [100]int

func value(p *int) int {
	if p == nil {
		return -1
	}
	return *p
}

// done keeps the functions that defer it from being inlined.
func done() {}

// each does everything with slices of one type.
func each[T comparable](name string, value func(i int) T, number func(T) int) {
	for _, n := range sizes {
		var zero T
		if unsafe.Sizeof(zero) > 1000 {
			n = n * 10 >> 18
		}
		from := make([]T, n)
		for i := range from {
			from[i] = value(i)
		}
		sum := func(what string, s []T) {
			sum, zeros := 0, 0
			for _, v := range s {
				sum = sum*31 + number(v)
			}
			for _, v := range s[len(s):cap(s)] {
				if v == zero {
					zeros++
				}
			}
			fmt.Println(name, n, what, s == nil, len(s), cap(s), zeros, sum)
		}
		sum("append to nil", appended[[]T](nil, from))
		sum("append to little", appended(make([]T, 3), from))
		sum("append to much", appended(slices.Clone(from), from[:min(n, 5)]))
		sum("append in place", appended(make([]T, 7, 2*n+7), from))
		whole := make([]T, n, 2*n)
		copy(whole, from)
		sum("append from within", appended(whole[:n/2], whole[n/4:]))
		sum("append itself", appended(from, from))
		sum("extend nil", extended[[]T](nil, n))
		sum("extend", extended(slices.Clone(from), n/2+1))
		dirty := append(slices.Clone(from), from...)
		sum("extend in place", extended(dirty[:n/2], n))
		short := make([]T, n/2+1)
		fmt.Println(copied(short, from))
		sum("copy to less", short)
		long := append(slices.Clone(from), from...)
		fmt.Println(copied(long, from[n/2:]))
		sum("copy to more", long)
		ahead := append(slices.Clone(from), from...)
		fmt.Println(copied(ahead[n/3:], ahead))
		sum("copy ahead", ahead)
		back := append(slices.Clone(from), from...)
		fmt.Println(copied(back, back[n/3:]))
		sum("copy back", back)
		sum("make and copy", made(from, n))
		sum("make less and copy", made(from, n/2))
		sum("make more and copy", made(from, n+n/2))
		if n > 0 {
			cleared(back[1:])
		}
		sum("clear", back)
		sum("insert", slices.Insert(slices.Clone(from), n/2, from...))
		sum("grow", slices.Grow(from[:n/2:n/2], n))
	}
}

func appended[S ~[]T, T any](to S, from []T) S {
	defer done()
	return append(to, from...)
}

func extended[S ~[]T, T any](to S, n int) S {
	defer done()
	return append(to, make([]T, n)...)
}

func copied[T any](to, from []T) int {
	defer done()
	return copy(to, from)
}

func made[S ~[]T, T any](from S, n int) S {
	defer done()
	to := make(S, n)
	copy(to, from)
	return to
}

// unused makes a copy for nothing, which is allowed: to copy to a variable is to use it.
func unused(from []int) int {
	defer done()
	to := make([]int, len(from))
	copy(to, from)
	return len(from)
}

func cleared[T any](all []T) {
	defer done()
	clear(all)
}

func texts() {
	for _, n := range sizes {
		text := strings.Repeat("0123456", n)
		a := appendedText[named](nil, text)
		b := appendedText(named("x"), text[:n])
		fmt.Println("text", n, a == nil, len(a), cap(a), string(a) == text, len(b), cap(b), string(b[1:]) == text[:n])
		to := make(named, 2*n)
		fmt.Println(copiedText(to, text), copiedText(to[n:], text), string(to[n:]) == text[:n])
		var list list
		list.add(text)
		list.add("and more")
		fmt.Println(len(list.text), cap(list.text), string(list.text) == text+"and more")
	}
}

func appendedText[S ~[]byte](to S, from string) S {
	defer done()
	return append(to, from...)
}

func copiedText(to named, from string) int {
	defer done()
	return copy(to, from)
}

type list struct{ text named }

func (l *list) add(s string) {
	defer done()
	l.text = append(l.text[:len(l.text):len(l.text)], s...)
}

// order: what calls change comes before what the builtin reads.
func order() {
	defer done()
	s := bytes.Repeat([]byte{1}, 1<<19)
	more := func() []byte { s = s[:2]; return bytes.Repeat([]byte{2}, 1<<19) }
	s = append(s, more()...)
	fmt.Println("order", len(s), s[1], s[2])
	to := make([]byte, 4<<20)
	from := func() []byte { to = to[1<<19:]; return s }
	fmt.Println(copy(to, from()), copy(to[1:], to), to[0], to[1])
}

func panics() {
	for _, n := range []int{-1, math.MaxInt} {
		func() {
			defer func() { fmt.Println("panic", recover()) }()
			extended([]int{1}, n)
		}()
		func() {
			defer func() { fmt.Println("panic", recover()) }()
			made([]int{1}, n)
		}()
	}
}

// library: what the standard library does, instrumented too.
func library() {
	var b bytes.Buffer
	part := bytes.Repeat([]byte("buffer "), 50_000)
	for range 8 {
		b.Write(part)
	}
	b.Next(100)
	fmt.Println(b.Len(), b.Cap(), bytes.Equal(b.Bytes()[:1000], part[2:1002]))
	thrown(b.Bytes())
	var s strings.Builder
	for range 8 {
		s.Write(part)
		s.WriteString(string(part))
	}
	fmt.Println(s.Len(), s.Cap(), len(strings.Repeat(s.String(), 3)))
}

// thrown: a throw in the midst of a buffer's growth leaves the buffer as it was. Each throw has a buffer of its own:
// one that nothing is thrown into grows threefold.
func thrown(text []byte) {
	for after := 1; after < 20; after += 3 {
		b := bytes.NewBuffer(slices.Clone(text))
		func() {
			throwAfter(after)
			defer throwAfter(0)
			defer func() { recover() }()
			b.Grow(b.Cap() + 1)
		}()
		fmt.Println("intact", bytes.Equal(b.Bytes(), text))
		b.WriteString("more")
		fmt.Println("goes on", bytes.Equal(b.Bytes(), append(slices.Clone(text), "more"...)))
	}
}

// count prints how often the forms poll.
func count() {
	little, much := make([]byte, 1000), make([]byte, 4<<20)
	text, room := string(much), make([]byte, 4<<20)
	for _, c := range []struct {
		name string
		f    func(from []byte)
	}{
		{"append", func(from []byte) { appended[[]byte](nil, from) }},
		{"append in place", func(from []byte) { appended(room[:0], from) }},
		{"append little to much", func(from []byte) { appended(from[:len(from):len(from)], little[:1]) }},
		{"append text", func(from []byte) { appendedText[named](nil, text[:len(from)]) }},
		{"extend", func(from []byte) { extended[[]byte](nil, len(from)) }},
		{"copy", func(from []byte) { copied(make([]byte, len(from)), from) }},
		{"make and copy", func(from []byte) { made(from, len(from)) }},
		{"copy text", func(from []byte) { copiedText(make([]byte, len(from)), text[:len(from)]) }},
		{"copy from within", func(from []byte) { copied(from, from[1:]) }},
		{"clear", cleared[byte]},
		{"clear pointers", func(from []byte) { cleared(make([]*int, len(from)/8)) }},
	} {
		fmt.Println(c.name, polled(func() { c.f(little) }), polled(func() { c.f(much) }))
	}
}
