package diffmatchpatch_test

import (
	"context"
	"strings"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/sergi/go-diff/diffmatchpatch"
)

func init() {
	before := victim.Text(1200)
	after := strings.NewReplacer("throw", "catch", "map", "", "w", "vv").Replace(before)
	victim.Run(func(context.Context) (any, error) {
		d := diffmatchpatch.New()
		d.DiffTimeout = 0
		patched, _ := d.PatchApply(d.PatchMake(before, d.DiffMain(before, after, true)), before)
		return []any{patched == after, len(patched)}, nil
	})
}
