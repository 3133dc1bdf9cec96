package cocoonprom

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// installed returns the path of a program of Prometheus, or skips the test.
func installed(t testing.TB, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed; Debian has it in the package prometheus", program)
	}
	return path
}

// promtool accepts the rules, and their tests pass.
func TestPromtool(t *testing.T) {
	promtool := installed(t, "promtool")
	for _, args := range [][]string{{"check", "rules", rulesFile}, {"test", "rules", rulesTests}} {
		if out, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// server is a running Prometheus.
type server struct {
	url    string
	native bool // it takes native histograms
}

// scrape runs a Prometheus until the end of the test, which scrapes a target twice a second and
// evaluates the rules.
func scrape(t *testing.T, target string, native bool) *server {
	t.Helper()
	program := installed(t, "prometheus")
	folder := t.TempDir()
	absolute, err := filepath.Abs(rulesFile)
	tasktest.Must(t, err)
	config := fmt.Sprintf(`
global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}
rule_files: [%q]
scrape_configs:
  - job_name: cocoon
    static_configs: [{targets: [%q]}]
`, absolute, strings.TrimPrefix(target, "http://"))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	tasktest.Must(t, err)
	address := l.Addr().String()
	l.Close()
	args := []string{"--storage.tsdb.path=" + folder, "--config.file=" + filepath.Join(folder, "prometheus.yml"), "--web.listen-address=" + address}
	if version, err := exec.Command(program, "--version").CombinedOutput(); err != nil {
		t.Fatalf("prometheus --version: %v", err)
	} else if native && scrapesNative.Match(version) {
		config = strings.Replace(config, "    static_configs", "    scrape_native_histograms: true\n    static_configs", 1)
	} else if native {
		args = append(args, "--enable-feature=native-histograms")
	}
	tasktest.Must(t, os.WriteFile(filepath.Join(folder, "prometheus.yml"), []byte(config), 0o600))
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, args...)
	var log strings.Builder
	cmd.Stderr = &log
	tasktest.Must(t, cmd.Start())
	t.Cleanup(func() {
		stop()
		cmd.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
		http.DefaultClient.CloseIdleConnections()
	})
	s := &server{url: "http://" + address, native: native}
	tasktest.Eventually(t, "Prometheus to be ready", func() bool {
		resp, err := http.Get(s.url + "/-/ready")
		if err == nil {
			resp.Body.Close()
		}
		return err == nil && resp.StatusCode == http.StatusOK
	})
	return s
}

// scrapesNative matches versions of Prometheus in which the scrape configuration asks for native
// histograms.
var scrapesNative = regexp.MustCompile(`version (3\.([89]|\d\d)|[4-9]|\d\d)`)

// ask returns the number of series in the answer to a query, and the first value.
func (s *server) ask(t testing.TB, q string) (series int, first json.RawMessage) {
	t.Helper()
	resp, err := http.Get(s.url + "/api/v1/query?query=" + url.QueryEscape(q))
	tasktest.Must(t, err)
	defer resp.Body.Close()
	var answer struct {
		Error string
		Data  struct {
			Result []struct{ Value, Histogram json.RawMessage }
		}
	}
	tasktest.Must(t, json.NewDecoder(resp.Body).Decode(&answer))
	if answer.Error != "" {
		t.Fatalf("%s: %s", q, answer.Error)
	}
	if len(answer.Data.Result) > 0 {
		first = append(answer.Data.Result[0].Value, answer.Data.Result[0].Histogram...)
	}
	return len(answer.Data.Result), first
}

// Each query of the dashboard returns data from a real Prometheus that scrapes a server under load,
// with native and with classic histograms. The rules for the quantiles do, too.
func TestDashboardHasData(t *testing.T) {
	installed(t, "prometheus")
	rt := started(t, cocoon.Config{Slots: 1})
	registry := prometheus.NewRegistry()
	registry.MustRegister(NewCollector(rt))
	target := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer target.Close()
	load(t, rt)
	// as Grafana does
	expand := strings.NewReplacer("$job", "cocoon", "$instance", ".*", "$__rate_interval", "5s")
	for name, native := range map[string]bool{"native": true, "classic": false} {
		t.Run(name, func(t *testing.T) {
			s := scrape(t, target.URL, native)
			panels, _ := dashboard(t)
			for _, q := range panels {
				tasktest.Eventually(t, q.of+": data for "+q.text, func() bool {
					time.Sleep(50 * time.Millisecond)
					n, _ := s.ask(t, expand.Replace(q.text))
					return n > 0
				})
			}
			tasktest.Eventually(t, "the recorded quantiles", func() bool {
				time.Sleep(50 * time.Millisecond)
				waits, _ := s.ask(t, "cocoon:loop_queue_wait_seconds:p99 > 0")
				responses, _ := s.ask(t, "cocoon:loop_safe_point_wait_seconds:p99 > 0")
				return waits > 0 && responses > 0
			})
			buckets, _ := s.ask(t, "cocoon_loop_queue_wait_seconds_bucket")
			whole, text := s.ask(t, "cocoon_loop_queue_wait_seconds")
			if native && (whole != 1 || buckets != 0 || !strings.Contains(string(text), "buckets")) || !native && (buckets == 0 || whole != 0) {
				t.Errorf("%d native histograms and %d classic buckets: %s", whole, buckets, text)
			}
		})
	}
}
