package vet

import (
	"go/types"
	"os"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/packages"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// TestFakesAreLikeTheRealPackages compares the declarations in testdata with the real packages of
// Cocoon, because the checkers recognise them by name.
func TestFakesAreLikeTheRealPackages(t *testing.T) {
	longtest.Skip(t, "it lists the packages and their dependencies twice")
	paths := []string{cocoonPath, policyPath, documentPath, safepointPath, modulePath + "/stubs"}
	actual := load(t, paths)
	fake := load(t, paths, "GO111MODULE=off", "GOWORK=off", "GOPATH="+analysistest.TestData())
	for _, path := range paths {
		for _, name := range fake[path].Scope().Names() {
			compare(t, fake[path].Scope().Lookup(name), actual[path].Scope().Lookup(name))
		}
	}
}

func load(t *testing.T, paths []string, env ...string) map[string]*types.Package {
	t.Helper()
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes, Env: append(os.Environ(), env...)}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*types.Package{}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			t.Fatalf("%s: %v", p.PkgPath, p.Errors)
		}
		found[p.PkgPath] = p.Types
	}
	return found
}

// compare compares an object of a fake with the real one: the declaration and, for a type, each
// field and method.
func compare(t *testing.T, fake, actual types.Object) {
	t.Helper()
	if actual == nil {
		t.Errorf("there is no %v", fake)
		return
	}
	if c, ok := fake.(*types.Const); ok && c.Val().ExactString() != actual.(*types.Const).Val().ExactString() {
		t.Errorf("%v is %v, not %v", fake, actual.(*types.Const).Val(), c.Val())
	}
	if _, isType := fake.(*types.TypeName); !isType {
		if fake.String() != actual.String() {
			t.Errorf("%v is in fact %v", fake, actual)
		}
		return
	}
	ptr := types.NewPointer(fake.Type())
	for m := range types.NewMethodSet(ptr).Methods() {
		found, _, _ := types.LookupFieldOrMethod(types.NewPointer(actual.Type()), true, actual.Pkg(), m.Obj().Name())
		compare(t, m.Obj(), found)
	}
	if s, ok := fake.Type().Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			found, _, _ := types.LookupFieldOrMethod(actual.Type(), true, actual.Pkg(), f.Name())
			compare(t, f, found)
		}
	}
}
