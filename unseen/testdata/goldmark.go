package goldmark_test

import (
	"bytes"
	"context"
	"strings"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/yuin/goldmark"
)

func init() {
	text := []byte(strings.Repeat("# A heading\n\nSome *words* with [links](https://example.com/a_b) and code.\n\n- one\n- two\n  1. three\n\n> a quotation\n\n", 800))
	victim.Run(func(context.Context) (any, error) {
		var b bytes.Buffer
		err := goldmark.Convert(text, &b)
		return &b, err
	})
}
