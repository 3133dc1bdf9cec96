package guest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/guest/meter"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"
)

// guests is the environment variable with the folder of the guests that are not in the repository.
const guests = "COCOON_GUESTS"

// fetched returns a guest that is not in the repository.
func fetched(t *testing.T, file string) []byte {
	t.Helper()
	dir := os.Getenv(guests)
	if dir == "" {
		t.Skipf("%s is not set; testdata/guests/README.md says how to get %s", guests, file)
	}
	wasm, err := os.ReadFile(filepath.Join(dir, file))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("%s has no %s; testdata/guests/README.md says how to get it", dir, file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return wasm
}

// command is a WASI command, with what it may use.
type command struct {
	wasm  []byte
	args  []string
	stdin string
	files string // mounted at /data
}

func (c command) config(out *bytes.Buffer) wazero.ModuleConfig {
	m := wazero.NewModuleConfig().WithName("").WithArgs(append([]string{"command"}, c.args...)...).
		WithEnv("COLOUR", "blue").WithStdin(strings.NewReader(c.stdin)).WithStdout(out).WithStderr(out).
		WithSysNanotime().WithSysWalltime().WithSysNanosleep()
	if c.files != "" {
		m = m.WithFSConfig(wazero.NewFSConfig().WithDirMount(c.files, "/data"))
	}
	return m
}

// plainly runs the command in plain wazero.
func (c command) plainly(t *testing.T) (output string, code uint32) {
	t.Helper()
	var out bytes.Buffer
	r := wazero.NewRuntime(background)
	defer r.Close(background)
	wasi_snapshot_preview1.MustInstantiate(background, r)
	_, err := r.InstantiateWithConfig(background, c.wasm, c.config(&out))
	var exit *sys.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("plain wazero: %v", err)
	}
	if exit != nil {
		code = exit.ExitCode()
	}
	return out.String(), code
}

// metered runs the command as a thread.
func (c command) metered(t *testing.T, m meter.Mechanism) (output string, code uint32) {
	t.Helper()
	var out bytes.Buffer
	rt := tasktest.Start(t, cocoon.Config{Slots: 1})
	module, err := Compile(background, c.wasm, Config{Mechanism: m, Loop: rt.Loop(), Slice: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer module.Close(background)
	in, err := module.Instantiate(background, c.config(&out))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Shutdown(background)
	_, err = in.Spawn(background, "_start").Wait(background)
	var exit *sys.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", m, err)
	}
	if exit != nil {
		code = exit.ExitCode()
	}
	return out.String(), code
}

// same checks that the command does the same with and without safe points.
func (c command) same(t *testing.T, want string, wantCode uint32) {
	t.Helper()
	plain, code := c.plainly(t)
	if !strings.Contains(plain, want) || code != wantCode {
		t.Errorf("plain wazero: exit code %d, output %q; want %d and %q", code, plain, wantCode, want)
	}
	for _, m := range mechanisms {
		if got, gotCode := c.metered(t, m); got != plain || gotCode != code {
			t.Errorf("%v: exit code %d, output %q; in plain wazero %d and %q", m, gotCode, got, code, plain)
		}
	}
}

func TestCommands(t *testing.T) {
	for _, x := range []struct{ name, file, arg, want string }{
		{"SQLite", "sqlite.wasm", `create table t(k integer primary key, v text);
			with recursive c(n) as (select 1 union all select n+1 from c where n < 100000)
			insert into t select n, printf('%08x', n * 2654435761 % 4294967296) from c;
			create index i on t(v); select count(*), min(v), max(v) from t;
			select group_concat(k) from (select k from t where v like '00%7' order by v limit 9);`, "100000|"},
		{"Lua", "lua.wasm", `local t = {} for i = 1, 100000 do t[i] = (i * 7919) % 100003 end table.sort(t)
			local s = {} for i = 1, 1000 do s[#s + 1] = string.format("%d:%5.2f", t[i], math.sqrt(t[i])) end
			local co = coroutine and 1 or 0
			print(#table.concat(s, ","), t[50000], co)`, "50000"},
	} {
		t.Run(x.name, func(t *testing.T) {
			command{wasm: fetched(t, x.file), args: []string{x.arg}}.same(t, x.want, 0)
		})
	}
}

// TestGoProgram: a Go program with goroutines, timers and files is a guest like any other.
func TestGoProgram(t *testing.T) {
	longtest.Skip(t, "compiles Go's standard library for WASI")
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip("there is no go command in PATH to compile the guest with")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "program.wasm")
	build := exec.Command(goCommand, "build", "-o", file, "./testdata/program")
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	wasm, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "in.txt"), []byte("for the guest"), 0o600); err != nil {
		t.Fatal(err)
	}
	command{wasm: wasm, args: []string{"a", "b"}, stdin: "1\n2\n", files: dir}.same(t, "[a b] blue\nread 1\nread 2\n\"for the guest\" <nil>\n<nil>\n", 3)
	if got, err := os.ReadFile(filepath.Join(dir, "out.txt")); string(got) != "written by the guest" {
		t.Errorf("the guest's file has %q, %v", got, err)
	}
	for _, m := range mechanisms {
		rt := tasktest.Start(t, cocoon.Config{Slots: 1, QuietThrows: true})
		if _, err := rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "guest._start", Limit: 200 * time.Millisecond}); err != nil {
			t.Fatal(err)
		}
		module, err := Compile(background, wasm, Config{Mechanism: m, Loop: rt.Loop()})
		if err != nil {
			t.Fatal(err)
		}
		defer module.Close(background)
		in, err := module.Instantiate(background, command{args: []string{"spin"}}.config(new(bytes.Buffer)))
		if err != nil {
			t.Fatal(err)
		}
		var p *cocoon.PreemptedError
		if _, err := in.Call(background, "_start"); !errors.As(err, &p) {
			t.Errorf("a loop without end ended with %v; want a throw", err)
		}
	}
}

// quickJS is an instance of QuickJS. Its methods must not run at the same time.
type quickJS struct{ in *Instance }

// quickJSModule compiles QuickJS.
func quickJSModule(t *testing.T, c Config) *Module {
	t.Helper()
	wasm := fetched(t, "quickjs.wasm")
	c.Runtime = wazero.NewRuntime(background)
	t.Cleanup(func() { c.Runtime.Close(background) })
	nothing := api.GoModuleFunc(func(_ context.Context, _ api.Module, stack []uint64) { stack[0] = 0 })
	env := c.Runtime.NewHostModuleBuilder("env")
	compiled, err := c.Runtime.CompileModule(background, wasm)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range compiled.ImportedFunctions() {
		if module, name, _ := f.Import(); module == "env" {
			env.NewFunctionBuilder().WithGoModuleFunction(nothing, f.ParamTypes(), f.ResultTypes()).Export(name)
		}
	}
	if _, err := env.Instantiate(background); err != nil {
		t.Fatal(err)
	}
	m, err := Compile(background, wasm, c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newQuickJS(t *testing.T, m *Module) quickJS {
	t.Helper()
	q := quickJS{instance(t, m)}
	q.must(t, "qjs_init")
	return q
}

func (q quickJS) must(t *testing.T, function string, args ...uint64) uint64 {
	t.Helper()
	got, err := q.in.Call(background, function, args...)
	if err != nil {
		t.Fatal(err)
	}
	return append(got, 0)[0]
}

func (q quickJS) text(t *testing.T, s string) uint64 {
	t.Helper()
	p := q.must(t, "wasm_malloc", uint64(len(s)+1))
	if !q.in.Memory().WriteString(uint32(p), s+"\x00") {
		t.Fatal("no memory")
	}
	return p
}

// eval starts a thread that evaluates a script.
func (q quickJS) eval(t *testing.T, script string) *Thread {
	t.Helper()
	return q.in.Spawn(background, "qjs_eval", q.text(t, script), uint64(len(script)), q.text(t, "script"), 0)
}

// result returns the thread's result as text.
func (q quickJS) result(t *testing.T, th *Thread) string {
	t.Helper()
	got, err := th.Wait(background)
	if err != nil {
		t.Fatal(err)
	}
	text := uint32(q.must(t, "qjs_get_string", got[0]))
	b, _ := q.in.Memory().Read(text, 200)
	return string(b[:max(bytes.IndexByte(b, 0), 0)])
}

// TestQuickJS: a script gives the same result as in other engines of JavaScript, and a loop without
// end is suspended, resumed and at last thrown.
func TestQuickJS(t *testing.T) {
	const script = `let a = []; for (let i = 0; i < 20000; i++) a.push((i * 7919) % 10007);
		a.sort((x, y) => x - y); JSON.stringify({ n: a.length, mid: a[10000], re: "a-b-c".replace(/-/g, "+"),
		big: (2n ** 100n).toString(), f: (0.1 + 0.2).toFixed(20) })`
	const want = `{"n":20000,"mid":5003,"re":"a+b+c","big":"1267650600228229401496703205376","f":"0.30000000000000004441"}`
	each(t, func(t *testing.T, rt *cocoon.Runtime, c Config) {
		m := quickJSModule(t, c)
		q := newQuickJS(t, m)
		if got := q.result(t, q.eval(t, script)); got != want {
			t.Errorf("the script returned %s; want %s", got, want)
		}
		spin := q.eval(t, "while (true) {}")
		soon(t, "the loop runs", func() bool { return spin.Account().Running > 5*time.Millisecond })
		q.in.Pause()
		other := newQuickJS(t, m)
		if got := other.result(t, other.eval(t, "6 * 7 + ''")); got != "42" {
			t.Errorf("while another guest is suspended, a script returned %s", got)
		}
		q.in.Resume()
		was := spin.Account().Running
		soon(t, "the loop goes on", func() bool { return spin.Account().Running > was+5*time.Millisecond })
		spin.Cancel()
		var p *cocoon.PreemptedError
		if _, err := spin.Wait(background); !errors.As(err, &p) {
			t.Errorf("the loop ended with %v; want a throw", err)
		}
	})
}
