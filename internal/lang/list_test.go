package lang

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/stubs"
)

// listOf writes x in [...] with n elements.
func listOf(x string, n int, element func(i int) string) string {
	var b strings.Builder
	b.WriteString(x + " in [")
	for i := range n {
		b.WriteString(element(i))
		b.WriteString(", ")
	}
	return b.String() + "] ? switch() : continue()"
}

func name(i int) string { return fmt.Sprintf("%q", fmt.Sprint("the name of a customer, ", i)) }

// Lists of thousands of constants cost as much as one of ten, and mean what they say.
func TestLongLists(t *testing.T) {
	most := longtest.Count(MaxConstants, 4000)
	number := func(i int) string { return fmt.Sprint(3*i - 1000) }
	unit := func(i int) string { return fmt.Sprintf("duration(\"%dms\")", i) }
	minus := func(i int) string { return fmt.Sprint(-i) }
	for _, c := range []struct {
		text string
		word uint64
		in   bool
	}{
		{listOf("task.name", most, name), uint64(stubs.Intern(fmt.Sprint("the name of a customer, ", most-1))), true},
		{listOf("task.name", most, name), uint64(stubs.Intern(fmt.Sprint("the name of a customer, ", most))), false},
		{listOf("task.name", 20, func(int) string { return `"a"` }), uint64(stubs.Intern("a")), true},
		{listOf("task.name", 10, func(i int) string { return []string{`""`, name(i)}[min(i, 1)] }), 0, true},
		{listOf("task.priority", most, number), uint64(2), true},
		{listOf("task.priority", most, number), uint64(3), false},
		{listOf("task.priority", 20, minus), 1<<64 - 19, true},
		{listOf("task.running", most, unit), uint64(77 * time.Millisecond), true},
		{"task.priority in [1, 2, 3, 4, 5, 6, 7, 8, -9223372036854775808] ? switch() : continue()", 1 << 63, true},
		{"task.priority not in [1, 2, 3, 4, 5, 6, 7, 8, /* nine, ] */ 9, // ten ]\n 10] ? continue() : switch()", 10, true},
		{"3 in [1, 2, 3, 4, 5, 6, 7, 8, 9] and task.priority == 4 ? switch() : continue()", 4, true},
	} {
		p, err := Parse(c.text, testEnv)
		if err != nil {
			t.Errorf("%.60s: %v", c.text, err)
			continue
		}
		checkProgram(t, p)
		out, _, err := ir.Interpret(p, []uint64{c.word})
		if err != nil || (out.Decision == stubs.Switch) != c.in || ir.Bound(p.Root) > 30 {
			t.Errorf("%.60s: %v of %#x, %v, %d steps", c.text, out.Decision, c.word, err, ir.Bound(p.Root))
		}
	}
}

func TestHostileLists(t *testing.T) {
	many := "the policy has more than 16384 constants in its lists"
	for _, c := range []struct{ name, text, want string }{
		{"one too many", listOf("task.name", MaxConstants+1, name), many},
		{"20,000", listOf("task.priority", 20000, func(i int) string { return fmt.Sprint(i) }), many},
		{"in two lists", strings.ReplaceAll(listOf("task.priority", 9000, func(i int) string { return fmt.Sprint(i) }), "? switch", "or "+
			strings.TrimSuffix(listOf("queue.length", 9000, func(i int) string { return fmt.Sprint(i) }), "? switch() : continue()")+"? switch"), many},
		{"no constants", listOf("task.priority", 5000, func(int) string { return "1 + 1" }), "more than 4096 words"},
		{"signs", "task.priority in [" + strings.Repeat("-", 9000) + "1] ? switch() : continue()", "more than 4096 words"},
		{"nested", "task.priority in " + strings.Repeat("[", 9000) + strings.Repeat("]", 9000), "more than 4096 words"},
		{"calls", listOf("task.priority", 5000, func(int) string { return "int(1.0)" }), "more than 4096 words"},
		{"no list", "[" + strings.Repeat("1,", 9000) + "1] == 1 ? switch() : continue()", "more than 4096 words"},
		{"brackets", strings.Repeat("[", MaxListText), many},
		{"numbers", "task.priority in [" + strings.Repeat("1 ", 200_000) + "]", many},
		{"commas", "task.priority in [" + strings.Repeat(",", MaxListText-100) + "]", many},
		{"a comment", "task.name in [\"a\"] /*" + strings.Repeat("x", MaxText) + "*/ ? switch() : continue()", "and 65536 are allowed"},
		{"a string", "task.name == \"[" + strings.Repeat("x", MaxText) + "\" ? switch() : continue()", "and 65536 are allowed"},
		{"beyond a document", listOf("task.name", 100, func(int) string { return "\"" + strings.Repeat("x", 11000) + "\"" }), "and 1048576 are allowed"},
		{"mixed", listOf("task.name", 20, func(i int) string { return []string{`"a"`, "1"}[i/19] }), "task.name is a name and 1 is a plain number"},
		{"a kind", listOf("task.kind", 20, func(i int) string { return []string{`"safe"`, `"sage"`}[i/19] }), `there is no kind "sage"`},
		{"a read", listOf("task.name", 20, func(i int) string { return []string{`"safe"`, "task.section"}[i/19] }), "a list holds constants, and task.section is a name"},
	} {
		begin := time.Now()
		_, err := Parse(c.text, testEnv)
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s took %v", c.name, took)
		}
		var e *ir.Error
		if !errors.As(err, &e) || !strings.Contains(e.Reason, c.want) {
			t.Errorf("%s: %.200v\nwant %q", c.name, err, c.want)
			continue
		}
		checkError(t, err)
	}
}

// The time of a list grows with its length, not with the square of that. On a busy machine the
// least times need more attempts.
func TestListsAreLinear(t *testing.T) {
	few, many := listOf("task.name", MaxConstants/32, name), listOf("task.name", MaxConstants, name)
	leastFew, leastMany := time.Hour, time.Hour
	parse := func(text string, least *time.Duration) {
		begin := time.Now()
		if _, err := Parse(text, testEnv); err != nil {
			t.Fatal(err)
		}
		*least = min(*least, time.Since(begin))
	}
	for range 30 {
		for range 5 {
			parse(few, &leastFew)
		}
		if parse(many, &leastMany); leastMany <= 256*leastFew {
			return
		}
	}
	t.Errorf("%d elements take %v, %d take %v", MaxConstants/32, leastFew, MaxConstants, leastMany)
}
