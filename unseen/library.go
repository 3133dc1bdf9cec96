package main

// library is a module in a fixed version, and an operation of it. The operation is the test file
// testdata/NAME.go, in a package of its own, next to the tests of the library.
type library struct {
	name, kind string
	module     string   // with its version
	pkg        string   // the folder of the package whose tests run; "" is the module's
	with       []string // other modules that the operation needs
	skip       string   // tests that are not run, as for -test.skip
	kept       string   // why the operation is not stopped, where that is meant
}
