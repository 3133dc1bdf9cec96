package bluemonday_test

import (
	"context"
	"strings"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/microcosm-cc/bluemonday"
)

func init() {
	page := strings.Repeat(`<p onclick="x()">some <b style="color: red">words</b> <a href="https://example.com/?a=b">link</a><script>alert(1)</script><img src="x.png"></p>`, 1000)
	victim.Run(func(context.Context) (any, error) { return bluemonday.UGCPolicy().Sanitize(page), nil })
}
