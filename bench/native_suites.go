package main

// suite is the benchmarks of one package.
type suite struct {
	name   string // the package, as it is shown
	module string // with its version, where it is none of the standard library
	choice string // -cocoon.pkgs; "" is what cocoon build chooses by itself
	skip   string // benchmarks to leave out, as -test.skip has it
}

// programs are the three workloads; their benchmarks are results of their own.
var programs = suite{name: "workloads"}

// programNames are the names of those results.
var programNames = map[string]string{"Fib": "fib", "Dot": "dot", "MatMul": "matmul"}

// packages are other people's. Left out are benchmarks of which one operation takes more than about
// 100 ms, which have smaller ones of their kind, and the one of encoding/json that is all sync and
// reflect. A package of the standard library is measured with all of them that poll.
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
