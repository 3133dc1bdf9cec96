package cocoon

import (
	"context"
	"slices"
	"testing"
	"time"
)

// Entries of never-unwind that match no function are unmet.
func TestUnmetNeverUnwind(t *testing.T) {
	begin := time.Now()
	got := unlinked([]string{"slices", "slices.Sort", "net/http.(*Client).*", "github.com/cocoon-go/cocoon/cocoon.(*Runtime).State", "github.com/cocoon-go/...",
		"github.com/cocoon-go/cocoon/cocoon.unlinked", "sync.(*Once).doSlow", "gorm.io/gorm/shema", "sync.(*Once).doSlo", "github.com/cocoon-go/cocoon/coon.*"})
	if want := []string{"github.com/cocoon-go/cocoon/coon.*", "gorm.io/gorm/shema", "net/http.(*Client).*", "sync.(*Once).doSlo"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	t.Log(time.Since(begin))

	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	load(t, rt, "never-unwind: [sync.(*Once).doSlow, sync.(*Onse).doSlow, {name: gorm.io/gorm/schema, suspend: false}]")
	rt.tellUnmet()
	unmet := rt.Stats().Unmet
	for name, want := range map[string]bool{"sync.(*Once).doSlow": false, "sync.(*Onse).doSlow": true, "gorm.io/gorm/schema": true} {
		if slices.Contains(unmet, name) != want {
			t.Errorf("%s: unmet are %q", name, unmet)
		}
	}
	rt.log.flush()
	if n := log.count("names=\"[gorm.io/gorm/schema sync.(*Onse).doSlow]"); n != 1 {
		t.Errorf("%d lines:\n%s", n, &log)
	}
}

// A custom event that nothing notifies is unmet.
func TestUnmetEvent(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	register(t, rt, Policy{Name: "p", On: OnNotify("accpets"), Expr: `throw("x")`})
	rt.Notify("accepts", 1)
	if unmet := rt.Stats().Unmet; !slices.Contains(unmet, "accpets") {
		t.Errorf("unmet are %q", unmet)
	}
	rt.Notify("accpets", 1)
	if unmet := rt.Stats().Unmet; slices.Contains(unmet, "accpets") {
		t.Errorf("unmet are %q", unmet)
	}
}

// A section is no task that a match lets through.
func TestUnmetTaskThatIsASection(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	load(t, rt, `policies: [{name: p, every: 1s, match: {tasks: [scan, "sca*", job]}, expr: 'task.running > duration("1h") ? throw("x") : continue()'}]`)
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		_, err := Section(ctx, "scan", func() (int, error) { return 0, nil })
		return err
	}))
	if unmet := rt.Stats().Unmet; !slices.Equal(unmet, []string{"sca*", "scan"}) {
		t.Errorf("unmet are %q", unmet)
	}
}
