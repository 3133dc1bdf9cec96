package keep

import (
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	rules := []Rule{
		{Pattern: "database/sql"}, {Pattern: "gorm.io/gorm/..."}, {Pattern: "gopkg.in/yaml.v3.Unmarshal"}, {Pattern: ".../singleflight"},
		{Pattern: "example.com/cache.(*Cache).Fill"}, {Pattern: "example.com/cache.Key.Hash"}, {Pattern: "example.com/cache.(*Pool).*"},
		{Pattern: "example.com/still.F", NoSuspend: true}, {Pattern: "example.com/cmd/server.handle"},
	}
	s := NewSet(rules, "example.com/cmd/server")
	for _, c := range []struct {
		function  string
		kept      bool
		noSuspend bool
	}{
		{"database/sql.(*DB).Query", true, false},
		{"database/sql/driver.IsValue", false, false},
		{"gorm.io/gorm.Open", true, false},
		{"gorm.io/gorm/schema.Parse.func1", true, false},
		{"gorm.io/gormer.Open", false, false},
		{"gopkg.in/yaml%2ev3.Unmarshal", true, false},
		{"gopkg.in/yaml%2ev3.Marshal", false, false},
		{"golang.org/x/sync/singleflight.(*Group).Do", true, false},
		{"example.com/cache.(*Cache).Fill", true, false},
		{"example.com/cache.(*Cache[...]).Fill", true, false},
		{"example.com/cache.(*Cache[go.shape.string]).Fill", true, false},
		{"example.com/cache.(*Cache[example.com/other.T]).Fill", true, false},
		{"example.com/cache.(*Cache).Filler", false, false},
		{"example.com/cache.Key.Hash", true, false},
		{"example.com/cache.(*Pool).Get", true, false},
		{"example.com/cache.(*Pools).Get", false, false},
		{"example.com/still.F", true, true},
		{"main.handle", true, false},
		{"main.handler", false, false},
		{"runtime.goexit", false, false},
		{"odd", false, false},
	} {
		if kept, noSuspend := s.Match(c.function); kept != c.kept || noSuspend != c.noSuspend {
			t.Errorf("%s: kept %v, no suspension %v; want %v, %v", c.function, kept, noSuspend, c.kept, c.noSuspend)
		}
	}
}

func TestMatchPath(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"a/b", "a/b", true}, {"a/b", "a/bc", false}, {"a/...", "a", true}, {"a/...", "a/b/c", true}, {"a/...", "ab", false},
		{"a...", "ab", true}, {".../b", "a/b", true}, {".../b", "b", false}, {"a/.../c/...", "a/b/c", true}, {"a/.../c/...", "a/b/c/d", true},
		{"a/.../c/...", "a/b/d", false}, {"a...b...c", "axbxbc", true}, {"a...b...c", "axc", false}, {"a...a", "a", false},
	} {
		if MatchPath(c.pattern, c.path) != c.want {
			t.Errorf("%s %s: want %v", c.pattern, c.path, c.want)
		}
	}
}

// TestTheStricterRuleCounts checks that two rules for the same function add up.
func TestTheStricterRuleCounts(t *testing.T) {
	for _, rules := range [][]Rule{
		{{Pattern: "a.F", NoSuspend: true}, {Pattern: "a.F"}},
		{{Pattern: "a.F"}, {Pattern: "a.F", NoSuspend: true}},
		{{Pattern: "a"}, {Pattern: "a/...", NoSuspend: true}},
	} {
		if kept, noSuspend := NewSet(rules, "").Match("a.F"); !kept || !noSuspend {
			t.Errorf("%v: kept %v, no suspension %v", rules, kept, noSuspend)
		}
	}
}

func TestParse(t *testing.T) {
	for _, text := range []string{
		"main", "database/sql", "gorm.io/gorm/...", ".../singleflight", "gopkg.in/yaml.v3.Unmarshal", "a.(*T).M", "a.T.M", "a.(*T).*=no-suspend",
		"a.T.*", "a.F=no-suspend", "größe.io/x.Maß",
	} {
		if r, err := Parse(text); err != nil || r.String() != text {
			t.Errorf("%s: %v, %v", text, r, err)
		}
	}
	for text, want := range map[string]string{
		"":              "empty",
		"...":           "all code",
		"all":           "all code",
		"std":           "all code",
		"./cache":       "import path",
		"/tmp/cache":    "import path",
		"a.F=suspend":   "=no-suspend",
		"a.F b":         "want a package",
		"a.(*T[int]).M": "type parameters",
		"a.(T).M":       "want a package",
		"a.(*T)":        "want a package",
		"a.*":           "want a package",
		"a/....(*T).M":  "not methods",
		"a/":            "want a package",
		"a.":            "want a package",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want an error with %q", text, err, want)
		}
	}
}

func TestLibrariesAreValid(t *testing.T) {
	for _, l := range Libraries {
		if err := Check(l.Pattern); err != nil || l.Why == "" {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

func BenchmarkMatch(b *testing.B) {
	s := NewSet(Rules(), "")
	for b.Loop() {
		s.Match("gorm.io/gorm/schema.(*Schema).parseRelation")
	}
}
