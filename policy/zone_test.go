package policy

import (
	"errors"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"
)

func TestZones(t *testing.T) {
	for zone, want := range map[string]string{
		"": "", "UTC": "", "Europe/Berlin": "", "America/New_York": "", "Local": `the zone "Local" is another on each server`,
		"Mars/Base": `there is no zone "Mars/Base"; write a name`, "../../etc/passwd": "there is no zone", "berlin": "there is no zone", "localtime": "there is no zone",
	} {
		err := Spec{Name: "p", On: Every(time.Second), Zone: zone}.Validate()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v; want %q", zone, err, want)
		}
	}
	none := func(string) (*time.Location, error) { return nil, errors.New("no such file") }
	if _, err := location("Europe/Berlin", none); err == nil || !strings.Contains(err.Error(), "install tzdata, or import time/tzdata") {
		t.Errorf("without a database: %v", err)
	}
	if at, err := location("", none); err != nil || at != time.UTC {
		t.Errorf("without a database and a zone: %v, %v", at, err)
	}
}

// The zone of a document is that of its policies, and of those alone.
func TestZoneOfDocument(t *testing.T) {
	doc, err := ReadDocument(strings.NewReader(`version: 1
zone: Europe/Berlin
limits: [{func: a, limit: 1s}]
policies: [{name: p, every: 1m, expr: 'clock.hour == 2 ? cancel() : continue()'}]
`))
	if err != nil {
		t.Fatal(err)
	}
	for zone, want := range map[string]string{`""`: "2:7: the zone is empty", "Mars/Base": `2:7: there is no zone "Mars/Base"`, "[a]": "2:7: a list stands where a string is wanted"} {
		if _, err := ReadDocument(strings.NewReader("version: 1\nzone: " + zone + "\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("zone: %s: %v; want %q", zone, err, want)
		}
	}
	for _, s := range doc.Policies {
		if want := map[bool]string{true: "Europe/Berlin"}[s.Name == "p"]; s.Zone != want {
			t.Errorf("%s has the zone %q", s.Name, s.Zone)
		}
	}
}
