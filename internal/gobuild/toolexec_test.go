package gobuild

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestShortcut checks that tools run without this program, except a compiler that has its flag.
func TestShortcut(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no /bin/sh")
	}
	dir := filepath.Join(t.TempDir(), "a b")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	own, tool := filepath.Join(dir, "own"), filepath.Join(dir, "tool")
	for name, path := range map[string]string{"own": own, "tool": tool} {
		text := "#!/bin/sh\nprintf '" + name + "'\nprintf ' <%s>' \"$@\"\nexit 3\n"
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	prefix := []string{own, "toolexec", "-others", "-package=a/...", "--"}
	ours := "own <toolexec> <-others> <-package=a/...> <--> <" + tool + "> "
	for _, c := range []struct{ args, want string }{
		{"-V=full", "tool <-V=full>"},
		{"-o|a b|$x|'y'|*.a", "tool <-o> <a b> <$x> <'y'> <*.a>"},
		{"-x|--|-cocoa", "tool <-x> <--> <-cocoa>"},
		{"-p|a b|-cocoon=key|a.go", ours + "<-p> <a b> <-cocoon=key> <a.go>"},
		{"-cocoon.tested=key", ours + "<-cocoon.tested=key>"},
	} {
		line, err := join(throughShell(prefix))
		if err != nil {
			t.Fatal(err)
		}
		words, err := split(line) // as the go command does
		if err != nil {
			t.Fatal(err)
		}
		words = append(append(words, tool), strings.Split(c.args, "|")...)
		out, err := exec.CommandContext(t.Context(), words[0], words[1:]...).Output()
		if code, _ := exitCode(err); string(out) != c.want || code != 3 {
			t.Errorf("%s: got %s, %v; want %s", c.args, out, err, c.want)
		}
	}
}
