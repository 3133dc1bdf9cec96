package instrument

import (
	"strings"
	"testing"
)

// TestUnrolled checks which loops poll once in several iterations. The go statement keeps the
// compiler from inlining the function.
func TestUnrolled(t *testing.T) {
	const declarations = `; go f() }; var f func(); type node struct{ next *node; n int }; var nodes []func() *int; var xs, ys []int`
	many := strings.Repeat("n += k & 77777777; ", 4) // 52 bytes in tokens
	for _, c := range []struct{ name, src, want string }{
		{"while", `for n > 0 { n /= 2 }`,
			`for n > 0 { {n /= 2};if !(n > 0) { break };{n /= 2};if !(n > 0) { break };{n /= 2};if !(n > 0) { break };POLL n /= 2 }`},
		{"with a post statement", `for p := x; p != nil; p = p.next { n += p.n }`,
			`for p := x; p != nil; p = p.next { ` + strings.Repeat(`{n += p . n};p = p . next;if !(p != nil) { break };`, 3) + `POLL n += p.n }`},
		{"without a condition", `for { if n = n / 2; n == 3 { break } }`,
			`for { ` + strings.Repeat(`{if n = n / 2;n == 3 { break }};`, 3) + `POLL if n = n / 2; n == 3 { break } }`},
		{"on several lines", "for n > k {\n\tn /= 2\n\tif n == 3 {\n\t\tn-- // three\n\t}\n}",
			"for n > k { " + strings.Repeat("{/*line :2:2*/n /= 2;/*line :3:2*/if n == 3 { /*line :4:3*/n --;/*line :5:2*/}};if !(/*line :1:59*/n > k) { break };", 3) + "POLL\n\tn /= 2\n\tif n == 3 {\n\t\tn-- // three\n\t}\n}"},
		{"condition on two lines", "for n > 0 &&\n k > 0 { n /= 2 }",
			"for n > 0 &&\n k > 0 { " + strings.Repeat("{n /= 2};if !(/*line :1:59*/n > 0 && /*line :2:2*/k > 0) { break };", 3) + "POLL n /= 2 }"},
		{"long", `for n > 0 { ` + many + many + `}`,
			`for n > 0 { ` + strings.Repeat(`{`+strings.TrimSuffix(strings.ReplaceAll(many+many, "; ", ";"), ";")+`};if !(n > 0) { break };`, 2) + `POLL ` + many + many + `}`},
		{"labelled, left by its label", `L: for n > 0 { for range 3 { if n /= 2; n == 7 { break L } } }`,
			`L: for n > 0 { ` + strings.Repeat(`{for range 3 { if n /= 2;n == 7 { break L } }};if !(n > 0) { break };`, 3) + `POLL for range 3 { if n /= 2; n == 7 { break L } } }`},
		{"counts to a limit that may change", `for i := 0; i < x.n; i++ { n /= 2 }`,
			`for i := 0; i < x.n; i++ { ` + strings.Repeat(`{n /= 2};i ++;if !(i < x . n) { break };`, 3) + `POLL n /= 2 }`},
		{"another poll in it", `for i := 0; i < x.n; i++ { k = 0; for k < n { f() } }`,
			`for i := 0; i < x.n; i++ { ` + strings.Repeat(`{k = 0;for k < n { POLL f ( ) }};i ++;if !(i < x . n) { break };`, 3) + `POLL k = 0; for k < n {POLL f() } }`},
		{"a loop in it, of several lines", "for n > k {\n\tn--\n\tfor n == 3 {\n\t\tf()\n\t}\n}",
			"for n > k { " + strings.Repeat("{/*line :2:2*/n --;/*line :3:2*/for n == 3 { POLL /*line :4:3*/f ( );/*line :5:2*/}};if !(/*line :1:59*/n > k) { break };", 3) + "POLL\n\tn--\n\tfor n == 3 {POLL\n\t\tf()\n\t}\n}"},

		{"a continue would pass by the poll", `for n > 0 { if n /= 2; n == 3 { continue } }`, `for n > 0 {POLL if n /= 2; n == 3 { continue } }`},
		{"a label in it", `for n > 0 { L: for range 3 { if n /= 2; n == 7 { break L } } }`, `for n > 0 {POLL L: for range 3 { if n /= 2; n == 7 { break L } } }`},
		{"too long", `for n > 0 { ` + strings.Repeat(many, 5) + `}`, `for n > 0 {POLL ` + strings.Repeat(many, 5) + `}`},
		{"costs much", `for n > 0 { for range 200 { n /= 2 } }`, `for n > 0 {POLL for range 200 { n /= 2 } }`},
		{"a call", `for n > 0 { f(); n /= 2 }`, `for n > 0 {POLL f(); n /= 2 }`},
		{"a call in the condition", `for g() { n /= 2 }`, `for g() {POLL n /= 2 }`},
		{"another change in it", `for n > 0 { n -= copy(xs, ys) }`, `for n > 0 {POLL n -= cocoon_bulkCopy(xs, ys, cocoon_bulkCopyPieces) }`},
		{"a call beside the loop in it", `for i := 0; i < x.n; i++ { f(); for k < n { f() } }`, `for i := 0; i < x.n; i++ {POLL f(); for k < n {POLL f() } }`},
		{"an index", `for i := 0; i < x.n; i++ { xs[i+1] = 0 }`,
			`for i := 0; ; { cocoon_first := i; for { POLL if i < cocoon_first { break }; cocoon_m := i + 1024; for ; (i < x.n) && i != cocoon_m; i++ { xs[i+1] = 0 }; if i != cocoon_m { break } }; break }`},
		{"keeps a variable", `for p := 9; n > 0; p /= 2 { n /= p; *nodes[0]() = *(&p) }`, `for p := 9; n > 0; p /= 2 {POLL n /= p; *nodes[0]() = *(&p) }`},
		{"captures a variable", `for p := 9; n > 0; p /= 2 { n /= 2; nodes = append(nodes, func() *int { return &p }) }`,
			`for p := 9; n > 0; p /= 2 {POLL n /= 2; nodes = append(nodes, func() *int { return &p }) }`},
		{"a text of two lines", "for n > 0 { n = len(`\n`) }", "for n > 0 {POLL n = len(`\n`) }"},
	} {
		t.Run(c.name, func(t *testing.T) {
			const head = "package p; func a(n, k int, x *node, g func() bool) { "
			got, _ := rewriteText(t, head+c.src+declarations, Options{})
			got = strings.TrimSuffix(strings.TrimPrefix(got, head), declarations)
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestUnrolledWhereInlined checks that a function which the compiler may inline stays as short as
// it can be.
func TestUnrolledWhereInlined(t *testing.T) {
	const src = `package p; func a(n int) int { for n > 3 { n /= 2 }; return n }`
	if got, _ := rewriteText(t, src, Options{}); got != strings.Replace(src, "3 {", "3 {POLL", 1) {
		t.Error(got)
	}
}
