package gobuild

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/cocoon-go/cocoon/instrument"
)

// runner runs a tool, and returns its output.
type runner func(words []string) (said []byte, code int, err error)

// capture runs a tool as a child, and captures its output.
func capture(words []string) (said []byte, code int, err error) {
	tool := exec.Command(words[0], words[1:]...)
	var out bytes.Buffer
	tool.Stdin, tool.Stdout, tool.Stderr = os.Stdin, &out, &out
	code, err = exitCode(tool.Run())
	return out.Bytes(), code, err
}

// build compiles the rewritten package, with the words as the command line. It must compile every
// package that go build compiles: if the compiler reports a mistake, build rewrites the functions
// with the mistake less, then not at all, and finally compiles the package unchanged, unless that
// would lose a section. It returns the output of the last compilation.
func (c compile) build(words []string, chosen choice, tool runner) (said []byte, code int, err error) {
	if said, code, err = tool(words); code == 0 || err != nil {
		return said, code, err
	}
	own, ownCode, err := tool(c.original())
	if err != nil || ownCode != 0 {
		return own, ownCode, err // the mistake is in the package itself
	}
	for range 2 {
		lines := mistakes(said)
		if len(lines) == 0 {
			break
		}
		c.mistaken = append(c.mistaken, lines...)
		if words, _, err = c.rewritten(chosen); err != nil {
			break
		}
		c.note(chosen, said)
		if said, code, err = tool(words); code == 0 || err != nil {
			return said, code, err
		}
	}
	if err == nil {
		c.note(chosen, said)
		chosen.explain("is compiled without polls")
	}
	if len(c.sections) > 0 {
		return nil, 0, fmt.Errorf("a policy limits %s, and the compiler refuses what its package was made into:\n%s", c.sections[0], said)
	}
	return tool(c.original())
}

// note reports, for -x, the compiler's messages.
func (c compile) note(chosen choice, said []byte) {
	chosen.explain("does not compile as rewritten, so that functions with these lines get plainer polls, or none:\n%s", bytes.TrimSpace(said))
}

// explain reports, for -x, how the package is compiled after a refusal.
func (c choice) explain(format string, args ...any) {
	if c.explains {
		fmt.Fprintf(os.Stderr, "# cocoon: %s "+format+"\n", append([]any{target()}, args...)...)
	}
}

var mistake = regexp.MustCompile(`(?m)^(.+\.[^:\n]+):(\d+)(?::\d+)?: `)

// mistakes returns the lines named in the compiler's messages, each once.
func mistakes(said []byte) (lines []instrument.Line) {
	for _, m := range mistake.FindAllSubmatch(said, -1) {
		n, err := strconv.Atoi(string(m[2]))
		l := instrument.Line{File: filepath.Base(string(m[1])), Line: n}
		if err == nil && !slices.Contains(lines, l) {
			lines = append(lines, l)
		}
	}
	return lines
}
