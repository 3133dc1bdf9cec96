package cocoondebug

import (
	"fmt"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cocoon-go/cocoon/cocoon"
)

// A name keeps its color while it is among the first, and no two of them share one.
func TestPalette(t *testing.T) {
	var p palette
	names := func(list ...string) (all []Name) {
		for _, name := range list {
			all = append(all, Name{Name: name})
		}
		return all
	}
	was := map[string]int{}
	for _, list := range [][]Name{
		names("a", "b", "c"), names("c", "d", "a"), names("1", "2", "3", "4", "5", "6", "7", "a", "c"), names("x", "a"),
	} {
		p.paint(list)
		used, now := map[int]bool{}, map[string]int{}
		for i, n := range list {
			if i >= colors {
				if n.Color != 0 {
					t.Errorf("%s has the color %d; there are %d colors", n.Name, n.Color, colors)
				}
				continue
			}
			if n.Color < 1 || n.Color > colors || used[n.Color] {
				t.Errorf("%s has the color %d; used are %v", n.Name, n.Color, used)
			}
			if before := was[n.Name]; before != 0 && before != n.Color {
				t.Errorf("%s had the color %d and has %d", n.Name, before, n.Color)
			}
			used[n.Color], now[n.Name] = true, n.Color
		}
		was = now
	}
}

func TestSpans(t *testing.T) {
	l := timeline{slots: [][]string{{"a", ""}, {"a", "b"}, {"", "b"}, {"a", "c"}, {"c"}}}
	number := map[string]int{"a": 1, "b": 2}
	for slot, want := range [][]Span{{{1, 0, 2}, {1, 3, 4}, {0, 4, 5}}, {{2, 1, 3}, {0, 3, 4}}, {}} {
		if got := l.spans(slot, number); !slices.Equal(got, want) {
			t.Errorf("slot %d: %v; want %v", slot, got, want)
		}
	}
}

func TestSince(t *testing.T) {
	then := cocoon.Histogram{Zero: 1, First: -3, Counts: []int64{1, 2}}
	h := cocoon.Histogram{Zero: 4, First: -4, Counts: []int64{5, 1, 4, 7}}
	got := since(h, then)
	if got.Zero != 3 || got.First != -4 || !slices.Equal(got.Counts, []int64{5, 0, 2, 7}) || h.Counts[2] != 4 {
		t.Errorf("%+v", got)
	}
}

func TestLastDecisions(t *testing.T) {
	var all decisions
	for i := range 10_000 {
		all.add(cocoon.Decision{Number: uint64(i), Kind: cocoon.DecisionRefusal, Policy: fmt.Sprint("p", i%5000)})
	}
	all.add(cocoon.Decision{Number: 10_000, Kind: cocoon.DecisionStall})
	s := &Snapshot{Policies: []Policy{{Name: "p4999"}}}
	all.fill(s)
	if n := len(s.Decisions); n != keptOf[verdicts] || s.Decisions[0].Number != 9999 || s.Decisions[n-1].Number != 9999-uint64(n)+1 {
		t.Errorf("%d decisions: %+v", n, s.Decisions)
	}
	if len(s.Stalls) != 1 || len(s.Policies[0].Last) == 0 {
		t.Errorf("%d stalls, and of the policy %+v", len(s.Stalls), s.Policies[0].Last)
	}
	if len(all.of) > maxPoliciesKept || len(all.last[verdicts]) > 2*keptOf[verdicts] {
		t.Errorf("%d policies, %d verdicts", len(all.of), len(all.last[verdicts]))
	}
}

func TestFormats(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 999: "999ns", 1234 * time.Nanosecond: "1.23µs", 12345678: "12.35ms", 1234567890: "1.23s", 12345 * time.Second: "3h25m45s",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%d) = %s; want %s", d, got, want)
		}
	}
	for n, want := range map[int]string{0: "0", 999: "999", 1234: "1\u202f234", 1234567: "1\u202f234\u202f567", -123: "-123"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) = %s; want %s", n, got, want)
		}
	}
	for _, s := range []string{"", "abc", "ééé", "日本語", "\xff\xff\xff\xff\xff\xff\xff\xff", "a\xffb"} {
		for most := 3; most < 12; most++ {
			got := cut(s, most)
			if !utf8.ValidString(got) || len(s) <= most && utf8.ValidString(s) && got != s {
				t.Errorf("cut(%q, %d) = %q", s, most, got)
			}
		}
	}
}
