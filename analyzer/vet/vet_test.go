package vet

import (
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
