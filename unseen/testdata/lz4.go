package lz4_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/pierrec/lz4/v4"
)

func init() {
	text := victim.Text(30_000)
	victim.Run(func(context.Context) (any, error) {
		var b bytes.Buffer
		w := lz4.NewWriter(&b)
		if err := w.Apply(lz4.CompressionLevelOption(lz4.Level9)); err != nil {
			return nil, err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		size := b.Len()
		back, err := io.ReadAll(lz4.NewReader(&b))
		return []any{size, sha256.Sum256(back)}, err
	})
}
