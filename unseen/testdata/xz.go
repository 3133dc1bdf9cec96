package xz_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/ulikunitz/xz"
)

func init() {
	text := victim.Text(40_000)
	victim.Run(func(context.Context) (any, error) {
		var b bytes.Buffer
		w, err := xz.NewWriter(&b)
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		size := b.Len()
		r, err := xz.NewReader(&b)
		if err != nil {
			return nil, err
		}
		back, err := io.ReadAll(r)
		return []any{size, sha256.Sum256(back)}, err
	})
}
