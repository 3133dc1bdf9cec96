package blackfriday_test

import (
	"context"
	"strings"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/russross/blackfriday/v2"
)

func init() {
	text := []byte(strings.Repeat("# A heading\n\nSome *words* with [links](https://example.com/a_b) and code.\n\n- one\n- two\n  1. three\n\n> a quotation\n\n", 800))
	victim.Run(func(context.Context) (any, error) { return string(blackfriday.Run(text)), nil })
}
