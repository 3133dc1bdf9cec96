package meter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/cocoon-go/cocoon/guest/meter"
	"github.com/cocoon-go/cocoon/internal/longtest"
)

// features are all that wazero knows.
const features = api.CoreFeaturesV2 | experimental.CoreFeaturesThreads | experimental.CoreFeaturesTailCall |
	experimental.CoreFeaturesExtendedConst | experimental.CoreFeaturesExceptionHandling |
	experimental.CoreFeaturesTypedFunctionReferences

// suites are the folders of wazero's specification tests, and their features.
var suites = []struct {
	folder   string
	features api.CoreFeatures
	every    int // the short form runs one file of so many
}{
	{"v1", api.CoreFeaturesV1, 48},
	{"v2", api.CoreFeaturesV2, 100},
	{"tail-call", api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall, 1},
	{"extended-const", api.CoreFeaturesV2 | experimental.CoreFeaturesExtendedConst, 1},
	{"threads", api.CoreFeaturesV2 | experimental.CoreFeaturesThreads, 1},
	{"exception-handling", features &^ experimental.CoreFeaturesThreads &^ experimental.CoreFeaturesExtendedConst, 1},
	{"typed-function-references", api.CoreFeaturesV2 | experimental.CoreFeaturesTypedFunctionReferences | experimental.CoreFeaturesTailCall, 3},
}

var mechanisms = []meter.Mechanism{meter.Epoch, meter.Fuel}

// specification returns the folder of wazero's specification tests in the module cache.
func specification(t *testing.T) string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	folder := filepath.Join(strings.TrimSpace(string(out)), "internal", "integration_test", "spectest")
	if _, statErr := os.Stat(folder); err != nil || statErr != nil {
		t.Skipf("no specification tests: %v, %v: they are part of wazero's module in the module cache", err, statErr)
	}
	return folder
}

// TestSpecification runs the tests of the WebAssembly specification with modules as they are and
// with metered modules. Each command must have the same outcome.
func TestSpecification(t *testing.T) {
	root := specification(t)
	for _, suite := range suites {
		t.Run(suite.folder, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(root, suite.folder, "testdata", "*.json"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no tests in %s: %v", suite.folder, err)
			}
			for i, file := range files {
				if longtest.Off() && i%suite.every != 0 {
					continue
				}
				t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
					compare(t, root, file, wazero.NewRuntimeConfigCompiler().WithCoreFeatures(suite.features))
					if !longtest.Off() {
						compare(t, root, file, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(suite.features))
					}
				})
			}
		})
	}
}

// compare runs one file as it is and metered.
func compare(t *testing.T, root, file string, config wazero.RuntimeConfig) {
	want := runScript(t, root, file, config, func(wasm []byte) ([]byte, error) { return wasm, nil })
	for _, mechanism := range mechanisms {
		got := runScript(t, root, file, config, func(wasm []byte) ([]byte, error) {
			return meter.Rewrite(wasm, meter.Config{Mechanism: mechanism})
		})
		passed := 0
		for i, outcome := range got {
			if outcome != want[i] {
				t.Errorf("%v: %s; want %s", mechanism, outcome, want[i])
			} else {
				passed++
			}
		}
		t.Logf("%v: %d of %d commands have the same outcome", mechanism, passed, len(want))
	}
}

// A script is a test of the specification as wast2json writes it.
type script struct {
	Commands []command `json:"commands"`
}

type command struct {
	Type     string `json:"type"`
	Line     int    `json:"line"`
	Name     string `json:"name"`
	Filename string `json:"filename"`
	Format   string `json:"module_type"`
	As       string `json:"as"`
	Action   struct {
		Type   string  `json:"type"`
		Field  string  `json:"field"`
		Module string  `json:"module"`
		Args   []value `json:"args"`
	} `json:"action"`
}

type value struct {
	Type  string `json:"type"`
	Lane  string `json:"lane_type"`
	Value any    `json:"value"`
}

// bits returns an argument as wazero takes it.
func (v value) bits(t *testing.T) []uint64 {
	if list, ok := v.Value.([]any); ok {
		width := 128 / len(list)
		var lanes [2]uint64
		for i, text := range list {
			lanes[i*width/64] |= parse(t, text.(string), v.Lane) << (i * width % 64)
		}
		return lanes[:]
	}
	text, _ := v.Value.(string)
	switch {
	case text == "" || text == "null":
		return []uint64{0}
	case v.Type == "externref":
		return []uint64{parse(t, text, v.Type) + 1} // 0 is null
	}
	return []uint64{parse(t, text, v.Type)}
}

func parse(t *testing.T, text, kind string) uint64 {
	switch {
	case strings.HasPrefix(text, "nan") && strings.HasSuffix(kind, "32"):
		return 0x7fc00000
	case strings.HasPrefix(text, "nan"):
		return 0x7ff8000000000000
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		signed, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		n = uint64(signed)
		if strings.HasSuffix(kind, "32") {
			n = uint64(uint32(n))
		}
	}
	return n
}

// A session is a script that runs.
type session struct {
	*testing.T
	runtime wazero.Runtime
	folder  string
	rewrite func([]byte) ([]byte, error)
	modules map[string]api.Module
	last    api.Module
}

// runScript returns the outcome of each command.
func runScript(t *testing.T, root, file string, config wazero.RuntimeConfig, rewrite func([]byte) ([]byte, error)) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s script
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	r := &session{t, wazero.NewRuntimeWithConfig(ctx, config), filepath.Dir(file), rewrite, map[string]api.Module{}, nil}
	defer r.runtime.Close(ctx)
	provideHost(t, r.runtime)
	environment, err := os.ReadFile(filepath.Join(root, "testdata", "spectest.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.runtime.Instantiate(ctx, environment); err != nil {
		t.Fatal(err)
	}
	outcomes := make([]string, len(s.Commands))
	for i, c := range s.Commands {
		as := ""
		if i+1 < len(s.Commands) && s.Commands[i+1].Type == "register" {
			as = s.Commands[i+1].As
		}
		outcomes[i] = fmt.Sprintf("%s, line %d, %s: %s", c.Type, c.Line, c.Action.Field, r.outcome(c, as))
	}
	return outcomes
}

// provideHost provides a safe point that gives small slices.
func provideHost(t *testing.T, r wazero.Runtime) {
	slice := uint64(longtest.Count(500, 2000))
	safepoint := func(_ context.Context, guest api.Module) {
		counter(guest).Set(slice)
	}
	wait := func(uint32, uint64, uint64, uint32) uint32 { return 2 } // its time is over
	notify := func(uint32, uint32) uint32 { return 0 }
	_, err := r.NewHostModuleBuilder(meter.Host).NewFunctionBuilder().WithFunc(safepoint).Export(meter.Safepoint).
		NewFunctionBuilder().WithFunc(func() {}).Export(meter.Back).
		NewFunctionBuilder().WithFunc(wait).Export(meter.Wait).
		NewFunctionBuilder().WithFunc(notify).Export(meter.Notify).Instantiate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
}

func (r *session) outcome(c command, as string) string {
	switch {
	case c.Type == "register", c.Format == "text":
		return ""
	case c.Filename != "":
		module, err := r.instantiate(c.Filename, as)
		if err != nil {
			return "refused"
		}
		if c.Type == "module" {
			r.last = module
			r.modules[c.Name] = module
		}
		return "instantiated"
	}
	module := r.last
	if c.Action.Module != "" {
		module = r.modules[c.Action.Module]
	}
	if c.Action.Type == "get" {
		return fmt.Sprint(module.ExportedGlobal(c.Action.Field).Get())
	}
	var args []uint64
	for _, a := range c.Action.Args {
		args = append(args, a.bits(r.T)...)
	}
	f := module.ExportedFunction(c.Action.Field)
	results, err := f.Call(context.Background(), args...)
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return first
	}
	for i, t := range f.Definition().ResultTypes() {
		if t != api.ValueTypeI32 && t != api.ValueTypeI64 && t != api.ValueTypeF32 && t != api.ValueTypeF64 &&
			t != api.ValueTypeExternref && t != 0x7b && results[i] != 0 {
			results[i] = 1 // a reference to a function is an address
		}
	}
	return fmt.Sprintf("%x", results)
}

func (r *session) instantiate(name, as string) (api.Module, error) {
	wasm, err := os.ReadFile(filepath.Join(r.folder, name))
	if err != nil {
		r.Fatal(err)
	}
	wasm, err = r.rewrite(wasm)
	if err != nil {
		return nil, err
	}
	return r.runtime.InstantiateWithConfig(context.Background(), wasm, wazero.NewModuleConfig().WithName(as))
}
