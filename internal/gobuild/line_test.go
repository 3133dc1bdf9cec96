package gobuild

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestParse checks that cocoon's own flags are removed, that all other flags stay, and that the
// packages are found.
func TestParse(t *testing.T) {
	for _, c := range []struct {
		args                                                            string
		pkgs, policies, flags, gcflags, toolexec, chdir, rest, packages string
	}{
		{args: "build"},
		{args: "build -o x -race ./a ./b", flags: "-o x -race", rest: "./a ./b", packages: "./a ./b"},
		{args: "build -cocoon.pkgs a,b/... -v --cocoon.pkgs=c .", pkgs: "a b/... c", flags: "-v", rest: ".", packages: "."},
		{args: "build -C dir -gcflags=all=-N -gcflags -l -toolexec=t -tags a .", gcflags: "all=-N -l", toolexec: "t", chdir: "dir",
			flags: "-tags a", rest: ".", packages: "."},
		{args: "build -cover=false -cocoon.policies a.yaml -cocoon.policies=b.yaml", policies: "a.yaml b.yaml", flags: "-cover=false"},
		// Go build takes them for packages, too.
		{args: "build . -cocoon.pkgs x", rest: ". -cocoon.pkgs x", packages: ". -cocoon.pkgs x"},
		{args: "build -tags", flags: "-tags"},
		{args: "run -x . -cocoon.pkgs x", flags: "-x", rest: ". -cocoon.pkgs x", packages: "."},
		{args: "run a.go b.go c d.go", rest: "a.go b.go c d.go", packages: "a.go b.go"},
		{args: "run -exec sudo example.com/x@latest -h", flags: "-exec sudo", rest: "example.com/x@latest -h", packages: "example.com/x@latest"},
		{args: "test -v -run A ./a ./b -bench . -cocoon.pkgs=std -gcflags=-m -args -gcflags=x ./c", pkgs: "std", gcflags: "-m",
			flags: "-v -run A", rest: "./a ./b -bench . -args -gcflags=x ./c", packages: "./a ./b"},
		{args: "test . -run A B", rest: ". -run A B", packages: "."},
	} {
		words := strings.Fields(c.args)
		got, err := Parse(words[0], words[1:])
		if err != nil {
			t.Errorf("cocoon %s: %v", c.args, err)
			continue
		}
		for _, part := range []struct {
			name, want string
			got        []string
		}{
			{"pkgs", c.pkgs, got.patterns}, {"policies", c.policies, got.Policies}, {"gcflags", c.gcflags, got.line.gcflags},
			{"flags", c.flags, got.line.words(func(string) bool { return true })}, {"rest", c.rest, got.line.rest},
			{"packages", c.packages, got.line.packages}, {"toolexec", c.toolexec, strings.Fields(got.line.toolexec)},
			{"chdir", c.chdir, strings.Fields(got.line.chdir)},
		} {
			if !slices.Equal(part.got, strings.Fields(part.want)) {
				t.Errorf("cocoon %s: %s is %q; want %q", c.args, part.name, part.got, part.want)
			}
		}
	}
}

// TestChoice checks which values of -gcflags result from a choice, and which packages it certainly
// has.
func TestChoice(t *testing.T) {
	for _, c := range []struct {
		patterns, sections string
		want               string
		has, hasNot        string
	}{
		{want: "all=-cocoon=K|std=", has: "example.com/a github.com/cocoon-go/cocoon/examples/hol",
			hasNot: "fmt regexp github.com/cocoon-go/cocoon/cocoon golang.org/x/sys/unix github.com/tetratelabs/wazero"},
		{patterns: "example.com/a/... regexp", want: "example.com/a/...=-cocoon=K|regexp=-cocoon=K", has: "example.com/a example.com/a/b regexp",
			hasNot: "example.com/ab sort"},
		{patterns: "std x.org/a", want: "std=-cocoon.tested=K|x.org/a=-cocoon=K", has: "sort bytes x.org/a", hasNot: "fmt x.org/b"},
		{patterns: "all go/...", want: "all=-cocoon=K|std=|go/...=-cocoon=K", has: "example.com/a go/ast", hasNot: "fmt internal/goarch"},
		{patterns: "./x", sections: "regexp.(*Regexp).Match regex.match runtime.GC odd",
			want: "./x=-cocoon=K|regexp=-cocoon=K -cocoon.section=regexp.(*Regexp).Match|regex=-cocoon=K -cocoon.section=regex.match", has: "regexp", hasNot: "runtime example.com/x"},
		{patterns: "x.org/a", sections: "x.org/a.F a.org/b.v2.(*T).M a.org/b.v3.F",
			want: "x.org/a=-cocoon=K -cocoon.section=x.org/a.F|a.org/b.v2=-cocoon=K -cocoon.section=a.org/b.v2.(*T).M|" +
				"a.org/b=-cocoon=K -cocoon.section=a.org/b.v3.F|a.org/b.v3=-cocoon=K -cocoon.section=a.org/b.v3.F"},
		{sections: "x.org/a.F x.org/a.G", want: "all=-cocoon=K|std=|x.org/a=-cocoon=K -cocoon.section=x.org/a.F -cocoon.section=x.org/a.G"},
		{patterns: "x.org/a x.org/...", sections: "x.org/a.F", want: "x.org/...=-cocoon=K|x.org/a=-cocoon=K -cocoon.section=x.org/a.F"},
	} {
		got, err := choose(strings.Fields(c.patterns))
		if err != nil {
			t.Errorf("%q: %v", c.patterns, err)
			continue
		}
		got.mark(strings.Fields(c.sections))
		if values := strings.Join(got.gcflags("K", nil, nil), "|"); values != c.want {
			t.Errorf("%q: -gcflags %s; want %s", c.patterns, values, c.want)
		}
		for path := range strings.FieldsSeq(c.has) {
			if !got.has(path) {
				t.Errorf("%q has not %s", c.patterns, path)
			}
		}
		for path := range strings.FieldsSeq(c.hasNot) {
			if got.has(path) {
				t.Errorf("%q has %s", c.patterns, path)
			}
		}
	}
}

// TestMergedFlags checks that with flags of the user each package gets its own flags, and the key.
func TestMergedFlags(t *testing.T) {
	all := graph{
		{ImportPath: "fmt", Standard: true, DepOnly: true, Dir: "/go/fmt", cwd: "/app"},
		{ImportPath: "regexp", Standard: true, DepOnly: true, Dir: "/go/regexp", cwd: "/app"},
		{ImportPath: "x.org/dep", DepOnly: true, Dir: "/app/dep", cwd: "/app"},
		{ImportPath: "x.org/app [x.org/app.test]", Dir: "/app", cwd: "/app"},
	}
	for _, c := range []struct{ given, want string }{
		{"-N", "regexp= -cocoon=K|x.org/dep= -cocoon=K|x.org/app=-N -cocoon=K"},
		{"all=-N", "fmt=-N|regexp=-N -cocoon=K|x.org/dep=-N -cocoon=K|x.org/app=-N -cocoon=K"},
		{"all=-N|std=|./dep/...=-l -m|x.org/...=-S|fmt=-m", "fmt=-m|regexp= -cocoon=K|x.org/dep=-S -cocoon=K|x.org/app=-S -cocoon=K"},
		{"./...=-l", "regexp= -cocoon=K|x.org/dep=-l -cocoon=K|x.org/app=-l -cocoon=K"},
		{"./dep=-l|-N|", "regexp= -cocoon=K|x.org/dep=-l -cocoon=K|x.org/app= -cocoon=K"},
	} {
		var given []perPackage
		for v := range strings.SplitSeq(c.given, "|") {
			f, err := parsePerPackage(v)
			if err != nil {
				t.Fatal(err)
			}
			given = append(given, f)
		}
		chosen, err := choose([]string{"all", "regexp"})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(chosen.gcflags("K", given, all), "|"); got != c.want {
			t.Errorf("-gcflags %s became %s; want %s", c.given, got, c.want)
		}
	}
}

func TestQuoting(t *testing.T) {
	for _, words := range [][]string{{"a", "b c", `d"e`, "f'g", ""}, {"/Program Files/cocoon", "-section=x.(*T).M"}} {
		line, err := join(words)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := split(line); err != nil || !slices.Equal(got, words) {
			t.Errorf("%q became %s, and that %q, %v", words, line, got, err)
		}
	}
	if _, err := join([]string{`'"`}); err == nil {
		t.Error("a word with both quotes has no error")
	}
	if _, err := split(`a 'b`); err == nil {
		t.Error("an open quote has no error")
	}
}

// TestInherit checks that flags in GOFLAGS, from the environment or the file, act like flags at the
// beginning of the command line.
func TestInherit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(file, []byte("# x\nGOPROXY=off\nGOFLAGS='-gcflags=all=-l' -mod=mod -toolexec=file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ env, goenv, args, gcflags, toolexec string }{
		{"", file, "build", "all=-l", "file"},
		{"", file, "build -gcflags=-N -toolexec=own", "all=-l|-N", "own"},
		{"--gcflags=-m -v -toolexec=t", file, "build", "-m", "t"},
		{"", "off", "build", "", ""},
		{"", file + ".none", "build", "", ""},
	} {
		t.Setenv("GOFLAGS", c.env)
		t.Setenv("GOENV", c.goenv)
		words := strings.Fields(c.args)
		command, err := Parse(words[0], words[1:])
		if err != nil {
			t.Fatal(err)
		}
		err = command.line.inherit()
		if got := strings.Join(command.line.gcflags, "|"); err != nil || got != c.gcflags || command.line.toolexec != c.toolexec {
			t.Errorf("GOFLAGS=%q, cocoon %s: -gcflags %s, -toolexec %s, %v; want %+v", c.env, c.args, got, command.line.toolexec, err, c)
		}
	}
	t.Setenv("GOFLAGS", "'-gcflags=all")
	if err := (&goLine{}).inherit(); err == nil || !strings.Contains(err.Error(), "GOFLAGS: there is no closing quote") {
		t.Errorf("an open quote in GOFLAGS: %v", err)
	}
}
