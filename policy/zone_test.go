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
