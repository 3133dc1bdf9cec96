package cocoonprom

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/cocoon-go/cocoon/internal/metrics"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

const (
	dashboardFile = "dashboard/cocoon.json"
	rulesFile     = "rules/cocoon.yaml"
	rulesTests    = "rules/cocoon_test.yaml"
)

// query is a query of the dashboard or of a rule.
type query struct{ of, text string }

// dashboard returns the queries of the dashboard: of its panels, and of its variables.
func dashboard(t testing.TB) (panels, variables []query) {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	tasktest.Must(t, err)
	var d struct {
		Panels []struct {
			Title, Type, Description string
			Targets                  []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Name, Type, Definition string }
		}
	}
	tasktest.Must(t, json.Unmarshal(text, &d))
	for _, p := range d.Panels {
		if p.Type != "row" && (len(p.Targets) == 0 || p.Description == "") {
			t.Errorf("the panel %q has no query, or no description", p.Title)
		}
		for _, target := range p.Targets {
			panels = append(panels, query{p.Title, target.Expr})
		}
	}
	for _, v := range d.Templating.List {
		if v.Type == "query" {
			variables = append(variables, query{"variable " + v.Name, v.Definition})
		}
	}
	return panels, variables
}

// rule is a rule of the file of rules.
type rule struct{ Record, Alert, Expr, For string }

func rules(t testing.TB) (all []rule) {
	t.Helper()
	text, err := os.ReadFile(rulesFile)
	tasktest.Must(t, err)
	var file struct {
		Groups []struct{ Rules []rule }
	}
	tasktest.Must(t, yaml.Unmarshal(text, &file))
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("no rules")
	}
	return all
}

// Each metric in a query of the dashboard, of a rule or of a test of rules exists, with the labels
// by which the query selects. The dashboard has a panel for each metric.
func TestQueriesUseMetricsThatExist(t *testing.T) {
	labels := map[string][]string{} // by metric
	for _, f := range metrics.All {
		name := f.Prometheus()
		labels[name] = f.Labels
		if f.Kind == metrics.Distribution {
			labels[name+"_bucket"] = append(slices.Clone(f.Labels), "le")
		}
	}
	var all []query
	for _, r := range rules(t) {
		all = append(all, query{"rule " + r.Record + r.Alert, r.Expr})
		if r.Record != "" {
			labels[r.Record] = []string{"loop"}
		}
	}
	panels, variables := dashboard(t)
	all = append(append(all, panels...), variables...)
	text, err := os.ReadFile(rulesTests)
	tasktest.Must(t, err)
	for _, m := range regexp.MustCompile(`series: '(.*)'`).FindAllStringSubmatch(string(text), -1) {
		all = append(all, query{"a test of the rules", m[1]})
	}
	metric := regexp.MustCompile(`\b(cocoon[_:][a-z0-9_:]*)(\{[^}]*\})?`)
	label := regexp.MustCompile(`(\w+)\s*=?[=~]`)
	target := []string{"job", "instance"}
	shown := map[string]bool{}
	for _, q := range all {
		found := metric.FindAllStringSubmatch(q.text, -1)
		if len(found) == 0 {
			t.Errorf("%s: no metric of Cocoon in %q", q.of, q.text)
		}
		for _, m := range found {
			known, ok := labels[m[1]]
			if !ok {
				t.Errorf("%s: there is no metric %s", q.of, m[1])
			}
			for _, l := range label.FindAllStringSubmatch(m[2], -1) {
				if !slices.Contains(known, l[1]) && !slices.Contains(target, l[1]) {
					t.Errorf("%s: %s has no label %q", q.of, m[1], l[1])
				}
			}
		}
	}
	for _, q := range panels {
		for _, m := range metric.FindAllStringSubmatch(q.text, -1) {
			shown[m[1]] = true
		}
	}
	for _, f := range metrics.All {
		if !shown[f.Prometheus()] {
			t.Errorf("the dashboard does not show %s", f.Prometheus())
		}
	}
}

// Each alert has a test, docs/metrics.md says what it means, and the runbook in docs/operate.md
// what to do; and they have no other.
func TestAlertsAreDocumentedAndTested(t *testing.T) {
	tests, err := os.ReadFile(rulesTests)
	tasktest.Must(t, err)
	operate, err := os.ReadFile("../docs/operate.md")
	tasktest.Must(t, err)
	_, runbook, _ := strings.Cut(string(operate), "\n## Runbook\n")
	runbook, _, _ = strings.Cut(runbook, "\n## ")
	chapters := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^### (\w+)$`).FindAllStringSubmatch(runbook, -1) {
		chapters[m[1]] = true
	}
	documented := map[string]bool{}
	for _, row := range rows(t, "## Alerts") {
		documented[strings.Trim(row[0], "`")] = true
	}
	for _, r := range rules(t) {
		if r.Alert == "" {
			continue
		}
		if !documented[r.Alert] {
			t.Errorf("docs/metrics.md lacks the alert %s", r.Alert)
		}
		if !strings.Contains(string(tests), "alertname: "+r.Alert+"\n") {
			t.Errorf("%s lacks a test of the alert %s", rulesTests, r.Alert)
		}
		if !chapters[r.Alert] {
			t.Errorf("the runbook in docs/operate.md lacks the alert %s", r.Alert)
		}
		delete(documented, r.Alert)
		delete(chapters, r.Alert)
	}
	maps.Copy(documented, chapters)
	for name := range documented {
		t.Errorf("docs/metrics.md or the runbook has the alert %s, which does not exist", name)
	}
}
