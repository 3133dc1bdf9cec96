package main

// library is a module in a fixed version, and an operation of it. The operation is the test file
// testdata/NAME.go, in a package of its own, next to the tests of the library.
type library struct {
	name, kind string
	module     string   // with its version
	pkg        string   // the folder of the tested package; "" is the module's root
	with       []string // other modules that the operation needs
	skip       string   // tests to leave out, as for -test.skip
	kept       string   // the intended reason if the operation is not stopped
}
