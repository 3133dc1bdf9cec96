package markdown

import (
	"context"
	"strings"

	"github.com/cocoon-go/cocoon/unseen/victim"
)

func init() {
	text := []byte(strings.Repeat("# A heading\n\nSome *words* with [links](https://example.com/a_b) and `code`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- one\n- two\n\n> a quotation\n\n", 150))
	victim.Run(func(context.Context) (any, error) {
		return string(ToHTML(text, nil, nil)), nil
	})
}
