package document

import (
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// operandRules are the words of the table of operators for what an operator takes, and what it
// makes of it.
var operandRules = map[string]func(a, b stubs.Type) bool{
	"bool":                                   func(a, b stubs.Type) bool { return a == stubs.Bool && b == stubs.Bool },
	"two values of one type, lists excepted": func(a, b stubs.Type) bool { return a == b && a != stubs.NameList },
	"N and the same N":                       func(a, b stubs.Type) bool { return a == b && a.Numeric() },
	"int by int, float by float":             func(a, b stubs.Type) bool { return a == b && (a == stubs.Int || a == stubs.Float) },
	"U by int or float, in either order":     func(a, b stubs.Type) bool { return unitAndNumber(a, b) || unitAndNumber(b, a) },
	"int by int":                             func(a, b stubs.Type) bool { return a == stubs.Int && b == stubs.Int },
	"float by float":                         func(a, b stubs.Type) bool { return a == stubs.Float && b == stubs.Float },
	"U by the same U":                        func(a, b stubs.Type) bool { return a == b && (a == stubs.Duration || a == stubs.Bytes) },
	"U by int or float":                      unitAndNumber,
	"int, duration or bytes, both the same":  func(a, b stubs.Type) bool { return a == b && a.Integral() },
}

func unitAndNumber(a, b stubs.Type) bool {
	return (a == stubs.Duration || a == stubs.Bytes) && (b == stubs.Int || b == stubs.Float)
}

// resultOf reads the column of results.
func resultOf(words string, a, b stubs.Type) stubs.Type {
	switch {
	case strings.HasPrefix(words, "bool"):
		return stubs.Bool
	case strings.HasPrefix(words, "int"):
		return stubs.Int
	case strings.HasPrefix(words, "float"):
		return stubs.Float
	case strings.HasPrefix(words, "U") && (b == stubs.Duration || b == stubs.Bytes):
		return b
	}
	return a // "N", "the same", "that type", "U", "the remainder"
}

// docOperators tries each operator on values of all types: it takes what one of its rows says,
// gives what that says, and refuses all else.
func docOperators(t *testing.T, rows [][]string) {
	says := map[string][][]string{}
	for _, row := range rows {
		for _, op := range codes(row[0]) {
			says[op] = append(says[op], row)
		}
	}
	for _, op := range []string{"or", "||", "and", "&&", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%"} {
		if len(says[op]) == 0 {
			t.Errorf("docs/policy.md does not have the operator %s", op)
		}
		for a, x := range readOf {
			for b, y := range readOf {
				want := stubs.Invalid
				for _, row := range says[op] {
					if rule := operandRules[row[1]]; rule != nil && rule(a, b) {
						want = resultOf(row[2], a, b)
					}
				}
				if got := typeOf(x + " " + op + " " + y); got != want {
					t.Errorf("%v %s %v is %v; docs/policy.md says %v", a, op, b, got, want)
				}
			}
		}
	}
	for _, row := range rows {
		for _, op := range codes(row[0]) {
			switch {
			case op == "c ? a : b", op == "in", op == "not in":
			case strings.HasPrefix(row[0], "`not`"), strings.Contains(row[0], "in front"):
				for a, x := range readOf {
					if want := a == stubs.Bool && row[1] == "bool" || a.Numeric() && row[1] == "N"; want != (typeOf(op+" "+x) == a) {
						t.Errorf("%s %v is %v; docs/policy.md says it takes %s", op, a, typeOf(op+" "+x), row[1])
					}
				}
			case operandRules[row[1]] == nil:
				t.Errorf("the operands %q of %s are none that this test knows", row[1], op)
			}
		}
	}
}

// typeOf returns the type of an expression, Invalid if it is refused.
func typeOf(text string) stubs.Type {
	for _, typ := range []stubs.Type{stubs.Bool, stubs.Int, stubs.Float, stubs.Duration, stubs.Bytes, stubs.Name} {
		env := lang.Env{On: stubs.Tick, States: map[string]stubs.Type{"x": typ}}
		if _, err := lang.Parse(`set("x", `+text+`)`, env); err == nil {
			return typ
		}
	}
	return stubs.Invalid
}
