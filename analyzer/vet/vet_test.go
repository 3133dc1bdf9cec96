package vet

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/analysis/passes/inspect"
)

// TestAnalyzers runs each analyzer on its own packages in testdata, and all of them on package
// plain. One load has all packages, because each load parses and checks the standard library, which
// takes most of the time of this test.
func TestAnalyzers(t *testing.T) {
	results := analysistest.RunWithSuggestedFixes(goFiles{t}, analysistest.TestData(), &analysis.Analyzer{
		Name: "byfolder", Doc: "runs the analyzers of a folder", Run: runByFolder,
		Requires: []*analysis.Analyzer{inspect.Analyzer}, FactTypes: Policy.FactTypes,
	}, packagesIn(t)...)
	i := slices.IndexFunc(results, func(r *analysistest.Result) bool { return r.Pass.Pkg.Path() == "policydocuments" })
	if i < 0 {
		t.Fatal("policydocuments was not analyzed")
	}
	checkDocuments(t, results[i])
}

// packagesIn returns the packages in testdata, all except the fakes of Cocoon's packages.
func packagesIn(t *testing.T) (all []string) {
	folders, err := os.ReadDir("testdata/src")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if name := f.Name(); name != "github.com" {
			all = append(all, name)
		}
	}
	return all
}

// runByFolder runs the analyzer of which the package's folder has the name, as cocoonerr, or of
// which the name begins so, as policyhelp. On other packages it runs all analyzers.
func runByFolder(pass *analysis.Pass) (any, error) {
	folder := pass.Pkg.Path()
	for _, a := range Analyzers {
		others := strings.HasPrefix(folder, "cocoon") || strings.HasPrefix(folder, "policy")
		if others && folder != a.Name && !strings.HasPrefix("cocoon"+folder, a.Name) {
			continue
		}
		of := *pass
		of.Analyzer = a
		if _, err := a.Run(&of); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// goFiles drops the complaints of analysistest about diagnostics in documents, which have no
// comments that want them: checkDocuments compares these diagnostics.
type goFiles struct{ testing.TB }

func (t goFiles) Errorf(format string, args ...any) {
	t.Helper()
	if text := fmt.Sprintf(format, args...); !strings.Contains(text, ".yaml:") {
		t.Error(text)
	}
}

func TestAnalyzersAreValid(t *testing.T) {
	if err := analysis.Validate(Analyzers); err != nil {
		t.Error(err)
	}
}

// An analyzer is in the list of the package's comment, and has code in testdata.
func TestAnalyzersAreListed(t *testing.T) {
	comment, err := os.ReadFile("vet.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range Analyzers {
		name := strings.TrimPrefix(a.Name, "cocoon")
		if listed := "[" + strings.ToUpper(name[:1]) + name[1:] + "]"; !strings.Contains(string(comment), listed) {
			t.Errorf("the comment of package vet does not list %s", listed)
		}
		if folders, err := filepath.Glob("testdata/src/*" + name + "*"); err != nil || len(folders) == 0 {
			t.Errorf("testdata/src has no code for %s: %v", a.Name, err)
		}
	}
}
