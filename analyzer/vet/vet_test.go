package vet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

func TestErr(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), Err, "cocoonerr", "plain")
}

func TestLock(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), Lock, "cocoonlock", "plain")
}

func TestCtx(t *testing.T) {
	analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), Ctx, "cocoonctx", "plain")
}

func TestPolicy(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), Policy,
		"policymain", "policylib", "policyassigned", "policyopen", "policyimports", "policyhiddenmain", "policyhelp", "policytexts", "policyread", "policystates", "policyunseen", "plain")
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
