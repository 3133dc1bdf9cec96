package brotli_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/cocoon-go/cocoon/unseen/victim"
)

func init() {
	text := victim.Text(12_000)
	victim.Run(func(context.Context) (any, error) {
		var b bytes.Buffer
		w := brotli.NewWriterLevel(&b, 6)
		if _, err := io.WriteString(w, text); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		size := b.Len()
		back, err := io.ReadAll(brotli.NewReader(&b))
		return []any{size, sha256.Sum256(back)}, err
	})
}
