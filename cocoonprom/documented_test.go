package cocoonprom

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/metrics"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// quoted is what stands between backquotes.
var quoted = regexp.MustCompile("`([^`]+)`")

// rows returns the rows of the tables below a heading of docs/metrics.md that begin with a name in
// backquotes, as cells.
func rows(t *testing.T, heading string) (all [][]string) {
	t.Helper()
	text, err := os.ReadFile("../docs/metrics.md")
	tasktest.Must(t, err)
	_, section, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/metrics.md has no heading %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.SplitSeq(section, "\n") {
		if strings.HasPrefix(line, "| `") {
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			all = append(all, cells)
		}
	}
	return all
}

// docs/metrics.md describes the metrics that the collector describes, each with its names, kind,
// unit and labels, and no more.
func TestMetricsAreDocumented(t *testing.T) {
	documented := map[string]string{}
	for _, row := range rows(t, "## The metrics") {
		if len(row) != 5 || len(row[4]) < 30 {
			t.Fatalf("%q: want 5 cells, with what to do in the last", row)
		}
		var labels []string
		for _, m := range quoted.FindAllStringSubmatch(row[3], -1) {
			labels = append(labels, m[1])
		}
		name := strings.Trim(row[0], "`")
		documented[name] = strings.Join([]string{strings.Trim(row[1], "`"), row[2], strings.Join(labels, ",")}, " ")
	}
	descs := make(chan *prometheus.Desc, 1000)
	NewCollector(tasktest.Start(t, cocoon.Config{Slots: 1})).Describe(descs)
	close(descs)
	described := map[string]bool{}
	for d := range descs {
		name := regexp.MustCompile(`fqName: "([^"]+)"`).FindStringSubmatch(d.String())[1]
		i := slices.IndexFunc(metrics.All, func(f *metrics.Metric) bool { return f.Prometheus() == name })
		if i < 0 || described[name] {
			t.Fatalf("%v is in no list, or twice", d)
		}
		f := metrics.All[i]
		if !strings.Contains(d.String(), "variableLabels: {"+strings.Join(f.Labels, ",")+"}") {
			t.Errorf("%v: want the labels %v", d, f.Labels)
		}
		want := strings.Join([]string{f.Name, f.Kind.String() + ", `" + f.Unit + "`", strings.Join(f.Labels, ",")}, " ")
		if documented[name] != want {
			t.Errorf("docs/metrics.md says of %s %q; want %q", name, documented[name], want)
		}
		described[name] = true
	}
	for name := range documented {
		if !described[name] {
			t.Errorf("docs/metrics.md lists %s, which the collector does not describe", name)
		}
	}
}
