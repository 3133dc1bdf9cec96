package instrument

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// loopForms returns a program with a loop for each of the types, each comparison and step, from one
// end of the type's range to the other and across it. It prints the values of the counter, one line
// for each loop.
func loopForms(types []string) string {
	var loops, calls strings.Builder
	for _, typ := range types {
		params, instance := "", ""
		if typ == "T" {
			params, instance = "[T ~int8]", "[int8]"
		}
		for _, cmp := range []string{"<", "<=", ">", ">=", "!="} {
			for _, post := range []string{"i++", "i += 2", "i += 4", "i += 7", "i += 8", "i += 9", "i--", "i -= 5", "i -= 8", "i -= 16"} {
				for _, form := range []string{loopForm, breakForm, whileForm, laterForm, againForm} {
					name := fmt.Sprintf("loop%d", strings.Count(loops.String(), "\nfunc "))
					fmt.Fprintf(&loops, form, name, params, typ, cmp, post)
					fmt.Fprintf(&calls, "\ttry(%q, %s%s)\n", typ+" "+cmp+" "+post, name, instance)
				}
			}
		}
	}
	return loopTries + loops.String() + rangeForms + "\nfunc main() {\n" + calls.String() + "\tranges()\n}\n"
}

const loopForm = `
func %s%s(from, to %s) (n int, sum uint64) {
	for i := from; i %s to; %s {
		if n++; n > 3000 {
			return n, sum
		}
		sum = sum*31 + uint64(i)
	}
	return n, sum
}
`

const breakForm = `
func %s%s(from, to %s) (n int, sum uint64) {
	for i := from; i %s to; %s {
		if n++; n > 3000 {
			break
		}
		sum = sum*31 + uint64(i)
	}
	return n, sum
}
`

const whileForm = `
func %s%s(from, to %s) (n int, sum uint64) {
	i := from
	for i %s to {
		if n++; n > 3000 {
			return n, sum + uint64(i)
		}
		sum = sum*31 + uint64(i)
		%s
	}
	return n, sum + uint64(i)
}
`

const laterForm = `
func %s%s(i, to %s) (n int, sum uint64) {
	for ; i %s to; %s {
		if n++; n > 3000 {
			break
		}
		sum = sum*31 + uint64(i)
	}
	return n, sum + uint64(i)
}
`

const againForm = `
func %s%s(from, to %s) (n int, sum uint64) {
	i := to
	for i = from; i %s to; %s {
		if n++; n > 3000 {
			break
		}
		if sum = sum*31 + uint64(i); sum%%7 == 0 {
			continue
		}
		sum++
	}
	return n, sum + uint64(i)
}
`

const loopTries = `package main

import "fmt"

type small int8

type integer interface{ ~int | ~int8 | ~int16 | ~uint8 | ~uint16 | ~uint64 }

func try[T integer](name string, loop func(from, to T) (int, uint64)) {
	last := T(1) // of the type
	for last<<1 > last {
		last = last<<1 | 1
	}
	for _, ends := range [][2]T{{0, 5}, {5, 0}, {0, 0}, {2, 100}, {127, 1}, {last, last - 1}, {last - 1, last}, {last - 3, 0}, {0, last - 3}, {last, last + 1}, {last + 1, last}} {
		n, sum := loop(ends[0], ends[1])
		fmt.Println(name, ends, n, sum)
	}
}
`

const rangeForms = `
type list []int

func over[S ~[]E, E any](s S) (n int) {
	for i, v := range s {
		n += i + len(fmt.Sprint(v))
	}
	return n
}

func ranges() {
	s, m := list{}, map[int]int{}
	for i := range 5000 {
		s = append(s, i*7)
		m[i] = i
	}
	sum := 0
	for i := range s {
		sum = sum*31 + i
	}
	for i, v := range s {
		sum = sum*31 + i*v
		if v > 20000 {
			continue
		}
		s = s[:len(s):len(s)]
		s[4000]++
	}
	for range s {
		sum++
	}
	for i := range int8(100) {
		sum += int(i)
	}
	for i := range uint64(3000) {
		sum += int(i)
	}
	for _, c := range "loops\xff over ⌘ texts" {
		sum = sum*31 + int(c)
	}
	for k, v := range m {
		sum += k * v
	}
	for i, v := range [...]int{4, 5, 6} {
		sum = sum*31 + i*v
	}
	for i, v := range &[...]int{4, 5, 6} {
		sum = sum*31 + i*v
	}
	for i := range func(yield func(int) bool) {
		for i := 0; i < 2000 && yield(i); i++ {
		}
	} {
		if i == 1500 {
			break
		}
		sum += i
	}
	for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
		s[i], s[j] = s[j], s[i]
	}
	for i, j := len(s)-1, 0; i > 0 && j < 900; i, j = i-1, j+2 {
		sum = sum*31 + s[j]
	}
	n := 0
again:
	if n++; n < 3000 {
		goto again
	}
outer:
	for i := 0; i < 3000; i++ {
		for j := i; ; j++ {
			if j%7 == 0 {
				continue outer
			}
			if j > 2900 {
				break outer
			}
			sum += j
		}
	}
	fmt.Println(sum, n, over(s), over([]string{"a", "b"}))
}
`

// TestLoopForms checks that each form of loop behaves the same when rewritten, for each integer
// type, up to the ends of the type's range and across them.
func TestLoopForms(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "main.go")
	types := longtest.Cases([]string{"int8", "uint64", "small", "T", "int", "int16", "uint8", "uint16"}, 1)
	for path, text := range map[string]string{plain: loopForms(types), filepath.Join(dir, "go.mod"): "module loops\n\ngo 1.25\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// With -trimpath the build cache keeps the program, although its folder has another name each time.
	built := func() string { return run(t, "go", "run", "-C", dir, "-trimpath", "-ldflags=-s -w", ".") }
	want := built()
	res, err := Rewrite(Package{Path: "main", Files: []string{plain}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if res.Stats.Strips < 125*len(types) {
		t.Errorf("%d loops are taken into pieces", res.Stats.Strips)
	}
	for path, text := range res.Files {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sameLines(t, built(), want)
}
