package lang

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// sizeUnits are the units of bytes("64MiB"), longer ones before their suffixes.
var sizeUnits = []struct {
	name string
	size float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// ParseSize reads a size such as "64MiB" or "1.5GB". The size must be a whole number of bytes.
func ParseSize(s string) (int64, error) {
	for _, u := range sizeUnits {
		number, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || strings.ContainsAny(number, "xXpPnN_") {
			return 0, fmt.Errorf("%q does not begin with a number", s)
		}
		f *= u.size
		if f != math.Trunc(f) {
			return 0, fmt.Errorf("%q is not a whole number of bytes", s)
		}
		if math.Abs(f) >= 1<<62 {
			return 0, fmt.Errorf("%q is too large", s)
		}
		return int64(f), nil
	}
	return 0, fmt.Errorf("%q has no unit", s)
}

// ParseDuration reads a duration such as "100ms".
func ParseDuration(s string) (int64, error) {
	d, err := time.ParseDuration(s)
	if err == nil {
		return int64(d), nil
	}
	if _, bare := strconv.ParseFloat(s, 64); bare == nil {
		return 0, fmt.Errorf("%q has no unit", s)
	}
	reason := strings.TrimPrefix(err.Error(), "time: ")
	return 0, errors.New(reason)
}

// describe names a value's type in an error: "a duration", "a plain number".
func describe(v value) string {
	switch v.node.Type {
	case stubs.Bool:
		return "a bool"
	case stubs.Int:
		if v.node.Op == ir.OpConst {
			return "a plain number"
		}
		return "a count"
	case stubs.Float:
		if v.node.Op == ir.OpConst {
			return "a plain number"
		}
		return "a float"
	case stubs.Duration:
		return "a duration"
	case stubs.Bytes:
		return "a size in bytes"
	case stubs.Name:
		if v.constText {
			return "a string"
		}
		return "a name"
	case stubs.NameList:
		return "a list of names"
	}
	return article(v.node.Type)
}

// article names a type in an error: "a duration", "an int".
func article(t stubs.Type) string {
	if t == stubs.Int {
		return "an int"
	}
	return "a " + t.String()
}

// likelySize returns the unit that a bare number of a size probably has: a large one is in bytes.
func likelySize(text string) string {
	if n, err := strconv.ParseFloat(text, 64); err == nil && n >= 1<<20 {
		return "B"
	}
	return "MiB"
}

// unitHint suggests how to give the bare number or string v, as written in text, the unit of type
// t. It is empty when there is no suggestion.
func unitHint(v value, text string, t stubs.Type) string {
	plain := v.plain()
	if plain {
		text = fmt.Sprint(stubs.Value(v.node.Imm, v.node.Type)) // the value, not its text
	}
	switch {
	case plain && t == stubs.Duration:
		return fmt.Sprintf("write duration(%q)", text+"ms")
	case plain && t == stubs.Bytes:
		return fmt.Sprintf("write bytes(%q)", text+likelySize(text))
	case (plain || v.node.Type == stubs.Bool && v.constant()) && t == stubs.Name:
		return fmt.Sprintf("write %q", fmt.Sprint(stubs.Value(v.node.Imm, v.node.Type)))
	case v.constText && t == stubs.Duration:
		return fmt.Sprintf("write duration(%s)", text)
	case v.constText && t == stubs.Bytes:
		return fmt.Sprintf("write bytes(%s)", text)
	case v.node.Type == stubs.Int && t == stubs.Float && !plain:
		return fmt.Sprintf("write float(%s)", text)
	}
	return ""
}
