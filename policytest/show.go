package policytest

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// format writes a value in the form of a file of tests. It cannot write a name, because its word is
// a hash.
func format(word uint64, t stubs.Type) string {
	switch v := stubs.Value(word, t).(type) {
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	default:
		if t == stubs.Bytes {
			return fmt.Sprintf("%dB", v)
		}
		return fmt.Sprint(v)
	}
}

// effectsOf writes the effects of an evaluation, with their keys.
func (w *world) effectsOf(c *compiled, o ir.Outcome) (all []string) {
	for i, s := range c.program.Sites {
		if o.Fired&(1<<i) == 0 {
			continue
		}
		var args []string
		if s.Name != "" {
			args = append(args, strconv.Quote(s.Name))
		}
		args = append(args, w.keyTexts(c, s.By)...)
		if s.Type != stubs.Unit {
			args = append(args, format(o.Values[i], s.Type))
		}
		all = append(all, fmt.Sprintf("%v(%s)", s.Effect, strings.Join(args, ", ")))
	}
	return all
}

// keyTexts returns the values of the parts of a policy's key, as in effects; nil has none.
func (w *world) keyTexts(c *compiled, by *ir.KeyOf) (texts []string) {
	if by == nil {
		return nil
	}
	for i, part := range by.Texts() {
		if p := by[i]; !p.Constant {
			read := slices.IndexFunc(c.program.Reads, func(r ir.Read) bool { return r.Offset == p.Offset })
			v, _ := w.read(c.keys[read], c.program.Reads[read])
			if part = fmt.Sprint(v); p.Type == stubs.Name {
				part = fmt.Sprintf("%q", v)
			}
		}
		texts = append(texts, part)
	}
	return texts
}

// saw writes the values that a policy read in its last evaluation, in the order of its text.
func (w *world) saw(c *compiled) (all []string) {
	snapshot := c.eval.Snapshot()
	for i, r := range c.program.Reads {
		text := format(snapshot[r.Offset], r.Type)
		if r.Type == stubs.Bytes {
			text = lang.Size(int64(snapshot[r.Offset]))
		}
		// what is read is the text's hash, and the salts come later
		if r.Taken == ir.TakenHash {
			name := r.Name()
			v, _ := w.value(name.String(), name)
			all = append(all, fmt.Sprintf("%v = %q", name, v))
			continue
		}
		if r.Stub < stubs.State {
			v, from := w.read(c.keys[i], r)
			if r.Type == stubs.NameList || r.Type == stubs.Name {
				text = fmt.Sprintf("%q", v)
			}
			if from != "" {
				text += " (" + from + ")"
			}
		}
		all = append(all, c.keys[i]+" = "+text)
	}
	return all
}

var unit = regexp.MustCompile(`(?:duration|bytes)\(\s*"([^"]*)"\s*\)`)

// same compares the texts of effects or values: numbers and durations by their value, and floats up
// to rounding.
func same(a, b string) bool {
	x, y := arguments(a), arguments(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if x[i] != y[i] && !sameNumber(x[i], y[i]) {
			return false
		}
	}
	return true
}

// arguments splits an effect into its name and arguments.
func arguments(s string) []string {
	s = unit.ReplaceAllString(s, "$1")
	name, rest, _ := strings.Cut(strings.TrimSuffix(s, ")"), "(")
	parts := append([]string{name}, strings.Split(rest, ",")...)
	for i, p := range parts {
		parts[i] = strings.TrimSpace(p)
		if q := parts[i]; len(q) > 1 && q[0] == '\'' && q[len(q)-1] == '\'' {
			parts[i] = strconv.Quote(q[1 : len(q)-1])
		}
	}
	return parts
}

func sameNumber(a, b string) bool {
	if x, err := time.ParseDuration(a); err == nil {
		y, err := time.ParseDuration(b)
		return err == nil && x == y
	}
	if x, err := strconv.ParseInt(a, 0, 64); err == nil {
		if y, err := strconv.ParseInt(b, 0, 64); err == nil {
			return x == y
		}
	}
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err == nil && err2 == nil && (x == y || math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y)) || math.IsNaN(x) && math.IsNaN(y))
}
