package main

// suite is the benchmarks of one package.
type suite struct {
	name   string // the package, as it is shown
	module string // with its version; "" for the standard library
	choice string // -cocoon.pkgs; "" is the default choice of cocoon build
	skip   string // benchmarks to skip, as for -test.skip
}

// programs are the three workloads; each of their benchmarks is a result.
var programs = suite{name: "workloads"}

// programNames are the names of these results.
var programNames = map[string]string{"Fib": "fib", "Dot": "dot", "MatMul": "matmul"}

// packages are third-party and standard packages. Benchmarks in which one operation takes more than
// about 100 ms are left out if they have smaller variants, and so is a benchmark of encoding/json,
// which is all sync and reflect. A package of the standard library is measured with all packages
// that poll.
var packages = []suite{
	{name: "regexp2", module: "github.com/dlclark/regexp2@v1.12.0", skip: `_32M|Hard_1M`},
	{name: "goja", module: "github.com/dop251/goja@v0.0.0-20260917113740-793a2a65c13b", skip: `^BenchmarkFib$`},
	{name: "expr", module: "github.com/expr-lang/expr@v1.17.8"},
	{name: "encoding/json", choice: "std", skip: `TypeFieldsCache`},
	{name: "regexp", choice: "std", skip: `/32M|//32M|/Hard1/1M`},
	{name: "sort", choice: "std", skip: `1e6`},
	{name: "compress/flate", choice: "std"},
	{name: "go/parser", choice: "std"},
}
