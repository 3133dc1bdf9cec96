package regexp2_test

import (
	"context"
	"strings"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/dlclark/regexp2"
)

func init() {
	var expression = regexp2.MustCompile(`(a+)+$`, 0)
	text := strings.Repeat("a", 18) + "b"
	victim.Run(func(context.Context) (any, error) { return expression.MatchString(text) })
}
