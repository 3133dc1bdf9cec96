package document

import (
	"strings"
	"testing"
	_ "time/tzdata"
)

// The zone of a document is that of its policies, and of those alone.
func TestZoneOfDocument(t *testing.T) {
	doc, err := Read(strings.NewReader(`version: 1
zone: Europe/Berlin
limits: [{func: a, limit: 1s}]
policies: [{name: p, every: 1m, expr: 'clock.hour == 2 ? cancel() : continue()'}]
`))
	if err != nil {
		t.Fatal(err)
	}
	for zone, want := range map[string]string{`""`: "2:7: the zone is empty", "Mars/Base": `2:7: there is no zone "Mars/Base"`, "[a]": "2:7: a list stands where a string is wanted"} {
		if _, err := Read(strings.NewReader("version: 1\nzone: " + zone + "\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("zone: %s: %v; want %q", zone, err, want)
		}
	}
	for _, s := range doc.Policies {
		if want := map[bool]string{true: "Europe/Berlin"}[s.Name == "p"]; s.Zone != want {
			t.Errorf("%s has the zone %q", s.Name, s.Zone)
		}
	}
}
