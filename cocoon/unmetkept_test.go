package cocoon

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// Entries of never-unwind that match no function are unmet. The document has all of its kinds of
// them, because a look through the program takes long.
func TestUnmetNeverUnwind(t *testing.T) {
	if !longtest.Off() { // one that no document may have
		if got := unlinked([]string{"slices", "github.com/cocoon-go/cocoon/coon.*"}); !slices.Equal(got, []string{"github.com/cocoon-go/cocoon/coon.*"}) {
			t.Errorf("got %q", got)
		}
	}
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	load(t, rt, "never-unwind: [slices, slices.Sort, net/http.(*Client).*, github.com/cocoon-go/cocoon/cocoon.(*Runtime).State, github.com/cocoon-go/..., "+
		"github.com/cocoon-go/cocoon/cocoon.unlinked, sync.(*Once).doSlow, sync.(*Onse).doSlow, {name: gorm.io/gorm/schema, suspend: false}, sync.(*Once).doSlo, gorm.io/gorm/shema]")
	begin := time.Now()
	rt.tellUnmet()
	t.Log(time.Since(begin))
	want := []string{"gorm.io/gorm/schema", "gorm.io/gorm/shema", "net/http.(*Client).*", "sync.(*Once).doSlo", "sync.(*Onse).doSlow"}
	if got := rt.Stats().Unmet; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	rt.log.flush()
	if n := log.count(fmt.Sprintf("names=\"%s", want)); n != 1 {
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
